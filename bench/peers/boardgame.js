// The two games on boardgame.io: `node boardgame.js`. Prints its address, and serves until it is ended.
//
// As its guides have it: `G` and moves, secrets taken out by `playerView`, moves that depend on them made on the
// server only, matches in memory. What is sent is the default, all of the view; its option `deltaState` sends less
// (460 bytes for 730) and takes more time for it.

import boardgame from 'boardgame.io/dist/cjs/server.js';

import { HeartToHeart, Hearts } from './games.js';

const { Origins, Server } = boardgame;

const server = Server({ games: [HeartToHeart, Hearts], origins: [Origins.LOCALHOST] });
const { appServer } = await server.run({ port: { port: 0, host: '127.0.0.1' } });
console.log(`boardgame.io at http://127.0.0.1:${appServer.address().port}`);
