// Owns: the table of Heart to Heart on the screen: shows a view, moves what changed, turns taps and
// keys into actions. Must not know: the rules (see taps.js for the little there is) or the connection.

import { cardBack, cardFace, emblem } from '../../ui/card.js';
import { showDialog } from '../../ui/dialog.js';
import { h, set } from '../../ui/dom.js';
import { Flights } from '../../ui/flight.js';
import { icon } from '../../ui/icons.js';
import { comesTo } from '../../ui/keep.js';
import { layout, nearest, nextTowards, rowOf } from './layout.js';
import * as motion from './motion.js';
import { keptSelection, outlook, partnered, tap } from './taps.js';
import { DISCARD, STOCK, change, places, spread } from './view.js';
import { GATHERED_MS, celebrate } from './win.js';

/** @typedef {import('../../games.js').TableHost} TableHost */
/** @typedef {import('../../games.js').Position} Position */
/** @typedef {import('../../wire.js').View} View */
/** @typedef {import('./view.js').Change} Change */
/** @typedef {{ stage: HTMLElement | null, dialogAt: number }} Feast `dialogAt`: when it is said in words, on the page's clock */
/** @typedef {{ selected: number | null, cursor: number, told: string, feast: Feast | null }} Kept when the table is drawn anew */

/** For so long a place whose card has just gone swallows taps: they were meant for that card. */
const SWALLOW_MS = 220;
const BOARD_MARGIN = 0.02;

const ARROWS = /** @type {Record<string, [number, number]>} */ ({
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
});

export class Table {
  #host;
  /** @type {Position | null} */
  #position = null;
  /** @type {number | null} */
  #selected = null;
  /** The place that the keyboard is at. */
  #cursor = 25;
  /** The end that a dialog has told of. */
  #told = '';
  /** @type {import('./layout.js').Layout} */
  #layout = layout(600, 600);
  /** Places whose card is still in the air. @type {Set<number>} */
  #held = new Set();
  /** What lies on top of the discard until the card in the air lands there. */
  #topBelow = 0;
  /** How many lie in the stock until the card in the air lands there. */
  #stockBelow = 0;
  /** @type {HTMLDialogElement | null} */
  #stuckDialog = null;
  /** @type {HTMLDialogElement | null} */
  #wonDialog = null;
  /** @type {Map<number, HTMLElement>} */
  #spots = new Map();
  #root;
  #air = h('div', { class: 'air', 'aria-hidden': 'true' });
  #watermark = emblem('hearts', 'hh-watermark');
  /** What the dialog of a won game has said, once that is closed; and what who only looks on finds. */
  #end = h('div', { class: 'hh-end', 'data-role': 'end' });
  #flights;
  /** @type {motion.Stage} */
  #stage;
  #observer;
  /** @type {(() => void)[]} */
  #undo = [];
  /** @type {Feast | null} */
  #feast = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #feastTimer;

  /** @param {TableHost} host */
  constructor(host) {
    this.#host = host;
    const { t } = host.i18n;
    const kept = /** @type {Kept | undefined} */ (host.kept);
    if (kept) [this.#selected, this.#cursor, this.#told] = [kept.selected, kept.cursor, kept.told];
    for (const place of [...places, STOCK, DISCARD]) this.#spots.set(place, this.#spot(place));
    this.#root = h(
      'div',
      { class: 'hh-table', 'data-role': 'table' },
      this.#watermark,
      h('div', { role: 'group', 'aria-label': t('hh.heart') }, places.map((place) => this.#at(place))),
      this.#end,
      h('div', { role: 'group', 'aria-label': t('hh.piles') }, this.#at(STOCK), this.#at(DISCARD)),
      this.#air,
    );
    this.#flights = new Flights(this.#air, host.pace);
    this.#stage = { flights: this.#flights, layout: () => this.#layout, hold: (place, held) => this.#hold(place, held) };
    this.#addInfo();
    host.frame.board.append(this.#root);
    this.#observer = new ResizeObserver(() => this.#arrange());
    this.#observer.observe(host.frame.board);
    this.#undo.push(host.settings.on('change', () => this.#position && this.#paint()));
    this.#arrange();
  }

  /** @param {Position} position */
  update(position) {
    const before = this.#position;
    this.#position = position;
    const ahead = this.#ahead();
    this.#selected = keptSelection((before ?? position).view, position.view, ahead, this.#selected);
    if (before && before.version !== position.version) this.#happened(before.view, position);
    else if (!before) this.#first();
    this.#paint();
    if (!before) this.#takeFocus();
  }

  /** @param {KeyboardEvent} event @returns {boolean} */
  onKey(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if ((event.ctrlKey || event.metaKey) && key === 'z') return this.#takeBack();
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    if (ARROWS[key]) return this.#moveCursor(ARROWS[key]);
    if (key === 'Escape' && this.#selected !== null) return this.#select(null);
    if (!this.#host.settings.get('shortcuts')) return false;
    if (key === 'd' || key === 's') return this.#tap(STOCK);
    if (key === 'u') return this.#takeBack();
    return false;
  }

  underWay() {
    if (!this.#position) return false;
    const { status, moves } = this.#now();
    return status !== 'won' && moves > 0;
  }

  /** @returns {Kept} */
  kept() {
    return { selected: this.#selected, cursor: this.#cursor, told: this.#told, feast: this.#feast };
  }

  destroy() {
    this.#endFeast();
    this.#flights.end();
    this.#observer.disconnect();
    for (const undo of this.#undo) undo();
    this.#root.remove();
  }

  // ---- what is where

  /** @param {number} place @returns {HTMLElement} */
  #at(place) {
    return /** @type {HTMLElement} */ (this.#spots.get(place));
  }

  #now() {
    return spread(/** @type {Position} */ (this.#position).view);
  }

  #ahead() {
    const { view, pending } = /** @type {Position} */ (this.#position);
    return outlook(view, pending);
  }

  /** An element for a place: a button for a player, a picture for who looks on. @param {number} place */
  #spot(place) {
    const role = place === STOCK ? 'stock' : place === DISCARD ? 'discard' : 'card';
    const attributes = { class: `spot ${role}`, 'data-role': role, 'data-place': place === STOCK ? null : place };
    if (!this.#host.interactive) return h('span', { ...attributes, role: 'img' });
    return h('button', {
      ...attributes,
      type: 'button',
      tabindex: -1,
      onclick: () => this.#tap(place),
      onfocus: () => this.#setCursor(place),
    });
  }

  #addInfo() {
    const { frame, i18n, interactive, share } = this.#host;
    frame.addInfo('score', i18n.t('info.score'));
    frame.addInfo('moves', i18n.t('info.moves'));
    frame.addInfo('code', i18n.t('info.code'), { label: i18n.t('share.title'), run: () => this.#position && share(this.#now().code) });
    if (interactive) {
      frame.addTool({ role: 'undo', icon: 'undo', label: i18n.t('tool.undo'), shortcut: 'U', run: () => this.#takeBack() });
    }
  }

  #arrange() {
    const { clientWidth, clientHeight } = this.#host.frame.board;
    if (!clientWidth || !clientHeight) return;
    this.#flights.end();
    const margin = Math.round(Math.min(clientWidth, clientHeight) * BOARD_MARGIN);
    this.#layout = layout(clientWidth - 2 * margin, clientHeight - 2 * margin);
    this.#root.style.inset = `${margin}px`;
    this.#root.style.setProperty('--card-width', `${this.#layout.cardWidth}px`);
    for (const [place, element] of this.#spots) {
      const { x, y } = motion.pointOf(this.#layout, place);
      element.style.left = `${x}px`;
      element.style.top = `${y}px`;
    }
    const { bounds } = this.#layout;
    for (const { style } of [this.#watermark, this.#end]) {
      style.left = `${bounds.x}px`;
      style.top = `${bounds.y}px`;
      style.width = `${bounds.width}px`;
      style.height = `${bounds.height}px`;
    }
  }

  // ---- what the player does; true: it was something

  /** @param {number} place */
  #tap(place) {
    if (!this.#position || !this.#host.interactive) return false;
    const { selected, action, mismatch } = tap(this.#position.view, this.#ahead(), this.#selected, place);
    const { settings, notices, i18n, act } = this.#host;
    if (mismatch && settings.get('heart-to-heart.errors')) notices.toast(i18n.t('hh.mismatch'), 'mismatch');
    this.#selected = selected;
    if (action) act(action);
    this.#paint();
    return true;
  }

  #takeBack() {
    if (!this.#position || !this.#host.interactive || !this.#ahead().canUndo) return false;
    this.#host.act(['undo']);
    return true;
  }

  /** @param {number | null} place */
  #select(place) {
    this.#selected = place;
    this.#paint();
    return true;
  }

  // ---- the keyboard's place

  /** @param {number} place */
  #canFocus(place) {
    return place === STOCK || (place === DISCARD ? this.#now().discard > 0 : this.#now().free(place));
  }

  /** @param {number} place */
  #setCursor(place) {
    this.#at(this.#cursor).tabIndex = -1;
    this.#cursor = place;
    this.#at(place).tabIndex = 0;
  }

  /** @param {[x: number, y: number]} direction */
  #moveCursor(direction) {
    if (!this.#position || !this.#host.interactive) return false;
    if (document.activeElement !== this.#at(this.#cursor)) {
      this.#at(this.#cursor).focus();
      return true;
    }
    const next = nextTowards(motion.pointOf(this.#layout, this.#cursor), direction, this.#goals());
    if (next !== null) this.#at(next).focus();
    return true;
  }

  /** Where else the cursor can go. @returns {[place: number, point: import('./layout.js').Point][]} */
  #goals() {
    const others = [...this.#spots.keys()].filter((place) => place !== this.#cursor && this.#canFocus(place));
    return others.map((place) => [place, motion.pointOf(this.#layout, place)]);
  }

  /** Where the cursor's card has gone the cursor, and the focus, go to the nearest that can be played. */
  #keepCursor() {
    if (!this.#host.interactive) return;
    const old = this.#at(this.#cursor);
    const focused = document.activeElement === old;
    if (!this.#canFocus(this.#cursor)) this.#setCursor(nearest(motion.pointOf(this.#layout, this.#cursor), this.#goals()) ?? STOCK);
    if (focused && this.#at(this.#cursor) !== old) this.#at(this.#cursor).focus();
    this.#at(this.#cursor).tabIndex = 0;
  }

  /** Who comes to the table is at its cards. */
  #takeFocus() {
    if (this.#host.interactive && comesTo(this.#root)) this.#at(this.#cursor).focus();
  }

  // ---- what is seen

  #paint() {
    const { view, version } = /** @type {Position} */ (this.#position);
    const now = this.#now();
    const ahead = this.#ahead();
    const help = this.#host.interactive && this.#host.settings.get('heart-to-heart.help');
    const lies = (/** @type {number} */ place) => ahead.playable(place) && !this.#held.has(place);
    const ringed = help ? partnered(view, lies) : new Set();
    const chosen = this.#selected === null ? 0 : now.rank(this.#selected);
    const fits = (/** @type {number} */ place) => ahead.playable(place) && this.#seenRank(place, now) === chosen;

    set(this.#root, { 'data-version': version, 'data-status': now.status });
    for (const place of [...places, DISCARD]) {
      set(this.#at(place), {
        'data-ring': ringed.has(place) && (!chosen || fits(place)),
        'data-dim': Boolean(help && chosen && !fits(place)),
        'data-going': ahead.going(place),
        'data-held': this.#held.has(place),
        'data-selected': this.#selected === place,
        ...(this.#host.interactive && { 'aria-pressed': now.free(place) ? String(this.#selected === place) : null }),
      });
    }
    for (const place of places) this.#paintCard(place, now);
    this.#paintPiles(now, ahead);
    this.#paintFrame(now, ahead);
    this.#paintEnd(now);
    this.#keepCursor();
  }

  /** @param {number} place @param {import('./view.js').Spread} now */
  #paintCard(place, now) {
    const spot = this.#at(place);
    const rank = now.rank(place);
    const state = !rank ? 'empty' : now.free(place) ? 'free' : 'covered';
    if (rank && spot.dataset.rank !== String(rank)) spot.replaceChildren(cardFace(rank));
    if (state === 'empty' && spot.dataset.state === 'free') this.#swallowTaps(spot);
    set(spot, {
      'data-rank': rank || null,
      'data-state': state,
      ...(this.#host.interactive && { 'aria-disabled': state === 'covered' ? 'true' : null }),
      'aria-label': rank ? this.#cardLabel(place, rank, state) : null,
      'aria-hidden': rank ? null : 'true',
    });
  }

  /** Of the card that is seen at a place while another is on its way there. @param {number} place @param {import('./view.js').Spread} now */
  #seenRank(place, now) {
    return place === DISCARD && this.#held.has(place) ? this.#topBelow : now.rank(place);
  }

  /** @param {HTMLElement} spot */
  #swallowTaps(spot) {
    spot.dataset.swallow = '';
    setTimeout(() => delete spot.dataset.swallow, SWALLOW_MS);
  }

  /** @param {number} place @param {number} rank @param {string} state */
  #cardLabel(place, rank, state) {
    const { t } = this.#host.i18n;
    return this.#host.i18n.capitalized(t('hh.card', { card: this.#cardName(rank), row: rowOf(place), state: t(`hh.${state}`) }));
  }

  /** @param {number} rank */
  #cardName(rank) {
    const { t } = this.#host.i18n;
    return t('card.name', { rank: t(`rank.${rank}`, { n: 1 }), suit: t('suit.hearts') });
  }

  /** @param {import('./view.js').Spread} now @param {import('./taps.js').Outlook} ahead */
  #paintPiles(now, ahead) {
    const { t } = this.#host.i18n;
    const stock = this.#at(STOCK);
    const stockSeen = this.#held.has(STOCK) ? this.#stockBelow : now.stock;
    const count = Math.max(0, ahead.stock);
    if (stock.dataset.seen !== `${stockSeen} ${count}`) {
      stock.replaceChildren(
        stockSeen ? cardBack() : h('span', { class: 'card outline' }, icon('recycle')),
        h('span', { class: 'count', 'aria-hidden': 'true', hidden: !stockSeen && !count }, this.#host.i18n.number(count)),
      );
    }
    set(stock, {
      'data-seen': `${stockSeen} ${count}`,
      'data-count': now.stock,
      'data-depth': Math.ceil(stockSeen / 7),
      'data-state': now.stock ? 'full' : 'empty',
      'aria-label': this.#stockLabel(now.stock),
    });

    const discard = this.#at(DISCARD);
    const top = now.rank(DISCARD);
    const topSeen = this.#seenRank(DISCARD, now);
    if (discard.dataset.seen !== String(topSeen)) {
      discard.replaceChildren(topSeen ? cardFace(topSeen) : h('span', { class: 'card outline' }, emblem('hearts')));
    }
    set(discard, {
      'data-seen': topSeen,
      'data-rank': top || null,
      'data-count': now.discard,
      'data-depth': Math.ceil(Math.max(0, now.discard - 1) / 7),
      'data-state': top ? 'free' : 'empty',
      'aria-label': top ? t('hh.discard', { card: this.#cardName(top), n: now.discard }) : t('hh.discardEmpty'),
    });
  }

  /** Who only looks on is not told what to do with it. @param {number} n */
  #stockLabel(n) {
    const { t } = this.#host.i18n;
    if (this.#host.interactive) return n ? t('hh.stock', { n }) : t('hh.stockEmpty');
    return n ? t('hh.stockSeen', { n }) : t('hh.stockSeenEmpty');
  }

  /** @param {import('./view.js').Spread} now @param {import('./taps.js').Outlook} ahead */
  #paintFrame(now, ahead) {
    const { frame, i18n, interactive } = this.#host;
    const counted = now.undos > 0 ? ` (${i18n.number(now.counted)})` : '';
    frame.setInfo('score', i18n.number(now.score));
    frame.setInfo('moves', i18n.number(now.moves) + counted, counted && i18n.t('hh.counted', { n: now.counted }));
    frame.setInfo('code', now.code);
    if (interactive) frame.enableTool('undo', ahead.canUndo);
    // while the dialog says so nothing else need
    if (interactive) frame.setRibbon(...(now.status === 'stuck' && !this.#stuckDialog ? [i18n.t('hh.stuck')] : []));
  }

  /** @param {import('./view.js').Spread} now */
  #paintEnd({ status }) {
    const { interactive, i18n } = this.#host;
    const said = interactive ? this.#told === status && !this.#wonDialog : !this.#feast?.stage;
    const shown = status === 'won' && said;
    if (shown === this.#end.hasChildNodes()) return;
    if (!shown) return this.#end.replaceChildren();
    if (!interactive) return this.#end.replaceChildren(h('h2', null, i18n.t('hh.cleared')));
    const button = (/** @type {import('../../ui/dialog.js').Choice} */ { role, kind = 'plain', label, run }) =>
      h('button', { type: 'button', class: `button ${kind}`, 'data-role': role, onclick: () => run?.() }, label);
    this.#end.replaceChildren(h('h2', null, i18n.t('hh.won')), h('div', { class: 'choices' }, this.#waysOn('end').map(button)));
  }

  // ---- what has happened

  /** The first sight of this session. */
  #first() {
    const { status, counted, rank } = this.#now();
    const kept = /** @type {Kept | undefined} */ (this.#host.kept);
    if (status === 'won' && kept?.feast) {
      if (kept.feast.stage) this.#air.append(kept.feast.stage);
      this.#keepFeast(kept.feast);
    }
    if (!this.#host.interactive) return;
    if (status === 'stuck' && this.#told !== status) this.#showStuck();
    if (status === 'won' && this.#told !== status && !this.#feast) this.#showWon();
    if (counted === 0 && this.#host.pace() && !kept) motion.deal(this.#stage, rank);
  }

  /** @param {View} before @param {Position} position */
  #happened(before, { view, jump }) {
    const was = spread(before);
    const now = spread(view);
    const what = change(before, view);
    if (jump) this.#flights.end();
    else {
      this.#move(what, was, now);
      this.#say(what, now);
    }
    if (now.status === was.status) return;
    this.#told = '';
    if (now.status === 'won') this.#celebrate(Boolean(jump));
    else this.#endFeast();
    if (!this.#host.interactive) return;
    if (now.status === 'stuck') this.#showStuck();
    if (was.status === 'stuck') this.#stuckDialog?.close();
  }

  /** @param {number} place @param {boolean} held */
  #hold(place, held) {
    if (held) this.#held.add(place);
    else if (this.#held.delete(place)) this.#paint();
  }

  /** @param {Change} what @param {import('./view.js').Spread} was @param {import('./view.js').Spread} now */
  #move({ kind, cards, rank }, was, now) {
    const { sound } = this.#host;
    const stage = this.#stage;
    if (kind === 'draw') motion.draw(stage, rank);
    if (kind === 'undraw') motion.undraw(stage, rank);
    if (kind === 'recycle') motion.recycle(stage, was.rank(DISCARD));
    if (kind === 'unrecycle') motion.unrecycle(stage, now.rank(DISCARD));
    if (kind === 'pair') motion.pair(stage, cards, rank, now.score - was.score);
    if (kind === 'unpair') motion.unpair(stage, cards, rank);
    this.#topBelow = was.rank(DISCARD);
    this.#stockBelow = was.stock;
    if (kind === 'draw' || kind === 'recycle' || kind === 'pair') sound(kind);
    if (kind === 'undraw' || kind === 'unrecycle' || kind === 'unpair') sound('undo');
  }

  /** @param {Change} what @param {import('./view.js').Spread} now */
  #say({ kind, rank }, now) {
    const { i18n, notices } = this.#host;
    const { t } = i18n;
    const one = rank ? t(`rank.${rank}`, { n: 1 }) : '';
    const two = rank ? t(`rank.${rank}`, { n: 2 }) : '';
    const said = {
      draw: () => t('hh.said.draw', { rank: one, n: now.stock }),
      recycle: () => t('hh.said.recycle', { n: now.stock }),
      pair: () => t('hh.said.pair', { ranks: two, score: now.score }),
      undraw: () => t('hh.said.undraw', { rank: one }),
      unrecycle: () => t('hh.said.unrecycle'),
      unpair: () => t('hh.said.unpair', { ranks: two }),
      none: () => '',
      other: () => '',
    }[kind]();
    if (said) notices.announce(said);
  }

  /** @param {boolean} quiet */
  #celebrate(quiet) {
    const { pace, notices, i18n, sound } = this.#host;
    notices.announce(i18n.t('hh.won'));
    if (!quiet) sound('win');
    const stage = quiet ? null : celebrate(this.#air, this.#layout, pace());
    this.#keepFeast({ stage, dialogAt: performance.now() + (quiet ? 0 : 150 + (GATHERED_MS + 500) * pace()) });
  }

  /** @param {Feast} feast one that has begun, maybe at the table that was drawn here before */
  #keepFeast(feast) {
    this.#feast = feast;
    if (this.#host.interactive && this.#told !== 'won') this.#feastTimer = setTimeout(() => this.#showWon(), feast.dialogAt - performance.now());
  }

  #endFeast() {
    clearTimeout(this.#feastTimer);
    this.#feast?.stage?.remove();
    this.#feast = null;
  }

  #showWon() {
    const { i18n, elapsedMs, ranked, share } = this.#host;
    const { t } = i18n;
    const { score, moves, undos, counted, code } = this.#now();
    this.#told = 'won';
    const facts = [
      [t('info.time'), i18n.time(elapsedMs()), 'time'],
      [t('info.score'), i18n.number(score), 'score'],
      ...movesFacts(i18n, { moves, counted: undos ? counted : null, ranked: ranked?.() ?? false }),
    ];
    this.#wonDialog = showDialog({
      role: 'won',
      title: t('hh.won'),
      closeLabel: t('close'),
      body: [h('dl', { class: 'facts' }, facts.map(([label, value, role]) => h('div', null, h('dt', null, label), h('dd', { 'data-role': `won-${role}` }, value))))],
      choices: [...this.#waysOn('won'), { role: 'won-share', label: t('tool.share'), run: () => share(code) }],
      closed: () => {
        this.#wonDialog = null;
        this.#endFeast();
        if (this.#root.isConnected) this.#paint();
      },
    });
  }

  /** What can be done after a won game. @param {string} where the beginning of their data-role @returns {import('../../ui/dialog.js').Choice[]} */
  #waysOn(where) {
    const { i18n, newGame, result, replay, go } = this.#host;
    const { t } = i18n;
    return [
      result ? { role: `${where}-result`, kind: 'main', label: t('hh.result'), run: result } : { role: `${where}-new`, kind: 'main', label: t('tool.new'), run: newGame },
      ...(replay ? [{ role: `${where}-replay`, label: t('hh.watchReplay'), run: () => go(replay) }] : []),
    ];
  }

  #showStuck() {
    const { i18n, newGame, ranked } = this.#host;
    const { t } = i18n;
    const { canUndo } = this.#ahead();
    this.#told = 'stuck';
    this.#stuckDialog = showDialog({
      role: 'stuck',
      title: t('hh.stuck'),
      closeLabel: t('close'),
      body: [h('p', null, t(ranked?.() ? 'hh.stuckRanked' : canUndo ? 'hh.stuckMore' : 'hh.stuckDeal'))],
      choices: [
        ...(canUndo ? [{ role: 'stuck-undo', kind: /** @type {const} */ ('main'), label: t('tool.undo'), run: () => void this.#takeBack() }] : []),
        ...(ranked?.() ? [] : [{ role: 'stuck-new', kind: /** @type {'main' | 'plain'} */ (canUndo ? 'plain' : 'main'), label: t('tool.new'), run: () => newGame(true) }]),
      ],
      closed: () => {
        this.#stuckDialog = null;
        if (this.#root.isConnected) this.#paint();
      },
    });
    this.#paint();
  }
}

/**
 * The moves of a game that is over. Where it is ranked, what counts comes first.
 * @param {import('../../i18n.js').I18n} i18n
 * @param {{ moves: number, counted: number | null, ranked: boolean }} what `counted`: with undos, null without any
 */
function movesFacts({ t, number }, { moves, counted, ranked }) {
  if (counted === null) return [[t('info.moves'), number(moves), 'moves']];
  if (ranked) return [[t('info.moves'), number(counted), 'counted'], [t('hh.uncountedLabel'), number(moves), 'moves']];
  return [[t('info.moves'), number(moves), 'moves'], [t('hh.countedLabel'), number(counted), 'counted']];
}
