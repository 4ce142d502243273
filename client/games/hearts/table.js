// Owns: the table of Hearts on the screen: which view is shown when, and what taps and keys mean.
// Must not know: the rules (what may be played, and why not, comes with the view) or the connection.
//
// Two views are at hand: the latest, which the player acts on, and the shown one, which follows card by card.
// Input never waits for what is shown: whoever taps while cards are on their way sees them arrive at once.

import { cardBack } from '../../ui/card.js';
import { showDialog } from '../../ui/dialog.js';
import { h, nameTag, set } from '../../ui/dom.js';
import { Flights } from '../../ui/flight.js';
import { comesTo } from '../../ui/keep.js';
import { isolatedName, nameOf } from '../../ui/people.js';
import { rise } from '../../ui/rise.js';
import { SeatPlate } from '../../ui/seat.js';
import { columnFaceOf, faceOf, nameOfCard } from './cards.js';
import { Hand } from './hand.js';
import { CARD_RATIO, sideLayout, sizes } from './layout.js';
import { Middle } from './middle.js';
import * as motion from './motion.js';
import { Panel } from './panel.js';
import { dealt, happened } from './saying.js';
import { sheet } from './sheet.js';
import { SEATS, lastTrick, playerOf, plays, received, spread, trickOnTable, unfolded } from './view.js';

/** @typedef {import('../../games.js').TableHost} TableHost */
/** @typedef {import('../../games.js').Position} Position */
/** @typedef {import('../../wire.js').View} View */
/** @typedef {import('../../wire.js').Action} Action */
/** @typedef {import('./view.js').Card} Card */
/** @typedef {import('./view.js').Spread} Spread */
/** @typedef {import('./motion.js').Lying} Lying */
/** @typedef {{ chosen: Card[], cursor: Card | null, feast: HTMLElement | null }} Kept when the table is drawn anew */

const PLACES = ['own', 'left', 'across', 'right'];
/** How long a whole trick stays. Less than a bot takes, so that what is shown keeps up. */
const HOLD_MS = 720;
const HOLD_HURRIED_MS = 350;
/** Between two cards that come in one go. */
const GAP_MS = 300;
const PASSING_MS = 500;
/** With more steps than this to be shown, the first ones are not worth waiting for. */
const MOST_STEPS = 7;
const PASS_STAGGER_MS = 60;
/** Between a hand at the side and its seat, in pixels. */
const SIDE_GAP = 8;
const TWO_OF_CLUBS = 1;

export class Table {
  #host;
  /** The seat at the bottom. */
  #base;
  /** @type {Position | null} */
  #latest = null;
  /** @type {View | null} */
  #shown = null;
  /** Views still to be shown. @type {View[]} */
  #queue = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} set while a step stands */
  #timer;
  /** The trick that has gone to who took it. */
  #swept = '';
  /** Selected for passing, or by the first of two taps. @type {Set<Card>} */
  #chosen = new Set();
  /** What an action was meant for, so that it can be sent again if others were quicker. */
  #meant = '';
  #plates;
  #fans = SEATS.map(() => h('div', { class: 'fan', role: 'img' }));
  /** What each seat shows face up beside it. @type {Card[][]} */
  #open = SEATS.map(() => []);
  #hand;
  #middle;
  #panel;
  #status = h('p', { class: 'status', 'data-role': 'status' });
  #claim;
  #air = h('div', { class: 'air', 'aria-hidden': 'true' });
  #root;
  #flights;
  /** @type {motion.Stage} */
  #stage;
  #observer;
  /** How large the sides and the hand are is not settled yet when the board has another size. */
  #parts = new ResizeObserver(() => requestAnimationFrame(() => this.#layCards()));
  #sizes = sizes(600, 600);
  #undo;
  /** What rises over a won game. @type {HTMLElement | null} */
  #feast = null;
  /** Takes back what was said last of what cannot be done. */
  #unsay = () => {};

  /** @param {TableHost} host */
  constructor(host) {
    this.#host = host;
    const { i18n, seat, interactive, frame } = host;
    const { t } = i18n;
    const kept = /** @type {Kept | undefined} */ (host.kept);
    this.#chosen = new Set(kept?.chosen);
    this.#base = seat ?? 0;
    this.#plates = SEATS.map((its) => new SeatPlate(i18n, its, its === seat));
    this.#hand = new Hand(i18n, interactive ? (card) => this.#tap(card) : null, kept?.cursor);
    this.#middle = new Middle(i18n, (its) => this.#place(its));
    this.#panel = new Panel({ i18n, people: host.people, seat, interactive, order: this.#order, replay: host.replay, pass: () => this.#pass(), next: () => this.#act(['next'], true), again: host.newGame, go: host.go });
    this.#claim = h('button', { type: 'button', class: 'button main small', 'data-role': 'claim', hidden: true, onclick: () => this.#askClaim() }, t('hearts.claim'));
    this.#root = this.#build();
    this.#flights = new Flights(this.#air, host.pace);
    this.#stage = { flights: this.#flights, card: () => this.#middle.card, hold: (card, held) => this.#hold(card, held) };
    this.#addFrame();
    frame.board.append(this.#root);
    this.#observer = new ResizeObserver(() => this.#arrange());
    this.#observer.observe(frame.board);
    for (const part of this.#root.querySelectorAll('.side, .hand')) this.#parts.observe(part);
    this.#undo = host.settings.on('change', () => this.#latest && this.#paint());
    this.#arrange();
  }

  // ---- what the house tells

  /** @param {Position} position */
  update(position) {
    const before = this.#latest;
    this.#latest = position;
    if (!before || position.jump || position.version < before.version) this.#jump(position.view);
    else if (position.view !== before.view) this.#follow(position.view);
    this.#keepChosen();
    if (before && before.view !== position.view) this.#callToAct(spread(before.view), this.#now());
    this.#paint();
    if (!before) this.#takeFocus();
  }

  peopleChanged() {
    if (this.#latest) this.#paint();
  }

  tick() {
    if (!this.#latest) return;
    const { toAct, phase } = this.#now();
    for (const seat of SEATS) this.#plates[seat].turn(toAct.includes(seat) && phase !== 'over', this.#host.timeLeft(seat));
  }

  /** @param {Action} action @param {string} code */
  refused([verb, card], code) {
    if (code === 'already_passed' || code === 'already_ready') return true;
    if (verb !== 'play' || code !== 'stale' || !this.#latest) return false;
    // Somebody came or went at that moment; the turn is still the same one.
    const still = this.#moment() === this.#meant && this.#now().legal.includes(Number(card));
    if (still) this.#host.act(['play', card]);
    return still;
  }

  /** @param {KeyboardEvent} event @returns {boolean} */
  onKey({ key, ctrlKey, metaKey, altKey }) {
    if (ctrlKey || metaKey || altKey || !this.#latest) return false;
    if (this.#host.interactive && this.#moveKey(key)) return true;
    if (!this.#host.settings.get('shortcuts')) return false;
    const letter = key.toLowerCase();
    if (letter === 's') return this.#showSheet();
    if (letter === 'l') return this.#showLastTrick();
    if (!this.#host.interactive) return false;
    if (letter === 'c' && this.#now().mayClaim) return this.#askClaim();
    if (letter === 'p' && this.#mode() === 'pass') return this.#pass();
    if (letter === 'n' && this.#now().phase === 'scored') return this.#act(['next'], true);
    return false;
  }

  underWay() {
    return this.#latest !== null && this.#now().phase !== 'over';
  }

  /** @returns {Kept} */
  kept() {
    return { chosen: [...this.#chosen], cursor: this.#hand.cursor, feast: this.#feast };
  }

  destroy() {
    clearTimeout(this.#timer);
    this.#unsay();
    this.#endFeast();
    this.#flights.end();
    this.#observer.disconnect();
    this.#parts.disconnect();
    this.#undo();
    this.#root.remove();
  }

  // ---- what is where

  get #order() {
    return SEATS.map((i) => (this.#base + i) % 4);
  }

  /** 0 one's own, 1 left, 2 across, 3 right. @param {number} seat */
  #place(seat) {
    return (seat - this.#base + 4) % 4;
  }

  #now() {
    return spread(/** @type {Position} */ (this.#latest).view);
  }

  #seen() {
    return spread(/** @type {View} */ (this.#shown));
  }

  #build() {
    const side = (/** @type {number} */ place) => {
      const seat = this.#order[place];
      return h('div', { class: `side ${PLACES[place]}`, 'data-place': PLACES[place] }, this.#plates[seat].element, place > 0 && this.#fans[seat]);
    };
    return h(
      'div',
      { class: 'hearts-table', 'data-role': 'table', onclick: () => this.#hurry() },
      side(2),
      side(1),
      this.#middle.element,
      side(3),
      h('div', { class: 'shelf' }, side(0), this.#status, this.#claim),
      this.#hand.element,
      this.#fans[this.#base],
      this.#panel.element,
      this.#air,
    );
  }

  #addFrame() {
    const { frame, i18n } = this.#host;
    const { t } = i18n;
    frame.addInfo('hand', t('hearts.info.hand'));
    frame.addInfo('target', t('hearts.info.target'));
    frame.addInfo('hearts', t('hearts.info.hearts'));
    frame.addTool({ role: 'scores', icon: 'scores', label: t('hearts.tool.scores'), shortcut: 'S', run: () => this.#showSheet() });
    frame.addTool({ role: 'last-trick', icon: 'trick', label: t('hearts.tool.lastTrick'), shortcut: 'L', run: () => this.#showLastTrick() });
  }

  #arrange() {
    const { clientWidth, clientHeight } = this.#host.frame.board;
    if (!clientWidth || !clientHeight) return;
    this.#flights.end();
    this.#sizes = sizes(clientWidth, clientHeight);
    const { card, fan, handHeight } = this.#sizes;
    const style = this.#root.style;
    style.setProperty('--hand-card', `${card}px`);
    style.setProperty('--fan-card', `${fan}px`);
    style.setProperty('--hand-height', `${handHeight}px`);
    set(this.#root, { 'data-compact': clientWidth < 520 || clientHeight < 420 });
    this.#middle.resize(card);
    this.#air.style.setProperty('--card-width', `${this.#middle.card}px`);
    this.#layCards();
  }

  #layCards() {
    this.#hand.resize(this.#sizes);
    for (const seat of SEATS) this.#laySide(seat);
  }

  /** Cards face up at the sides lie so that each can be read; if need be the seat has no picture. @param {number} seat */
  #laySide(seat) {
    const fan = this.#fans[seat];
    const cards = this.#open[seat];
    const side = fan.parentElement;
    if (this.#place(seat) % 2 === 0 || !side) return;
    const plate = this.#plates[seat].element;
    const laid = () => sideLayout(side.clientWidth, side.clientHeight - plate.offsetHeight - SIDE_GAP, this.#sizes.fan);
    set(side, { 'data-tight': false });
    // As wide as it lies now it would make the side as wide.
    fan.style.setProperty('--per-row', '1');
    if (!cards.length) return;
    let lies = laid();
    if (!lies.fits) {
      set(side, { 'data-tight': true });
      lies = laid();
    }
    fan.style.setProperty('--step', `${lies.step}px`);
    fan.style.setProperty('--per-row', String(lies.perRow));
    const column = lies.perRow === 1;
    if ('column' in fan.dataset === column) return;
    set(fan, { 'data-column': column });
    fan.replaceChildren(...cards.map(column ? columnFaceOf : faceOf));
  }

  /** The middle of an element, as a card lies there. @param {Element} element @param {number} width @returns {Lying} */
  #lying(element, width) {
    const root = this.#root.getBoundingClientRect();
    const { left, top, width: w, height } = element.getBoundingClientRect();
    return { x: left - root.left + w / 2, y: top - root.top + height / 2, width };
  }

  /** Where cards of a seat come from and go to. @param {number} seat @returns {Lying} */
  #home(seat) {
    if (this.#place(seat) === 0 && this.#handShown()) return this.#lying(this.#hand.element, this.#sizes.card);
    return this.#lying(this.#plates[seat].element, this.#sizes.fan);
  }

  /** Where a card lies in the hand. @param {Card} card @returns {Lying} */
  #inHand(card) {
    const width = this.#sizes.card;
    const point = this.#hand.pointOf(card);
    if (!point) return this.#home(this.#base);
    const root = this.#root.getBoundingClientRect();
    const { left, top } = this.#hand.element.getBoundingClientRect();
    return { x: left - root.left + point.x + width / 2, y: top - root.top + point.y + (width * CARD_RATIO) / 2, width };
  }

  /** Where the card of a seat lies in the trick. @param {number} seat @returns {Lying} */
  #inTrick(seat) {
    const width = this.#middle.card;
    const { x, y, rotate } = this.#middle.spot(seat);
    const root = this.#root.getBoundingClientRect();
    const { left, top } = this.#middle.element.getBoundingClientRect();
    return { x: left - root.left + x + width / 2, y: top - root.top + y + (width * CARD_RATIO) / 2, width, rotate };
  }

  /** Whether the hand at the bottom is seen. */
  #handShown() {
    return this.#seen().hand(this.#base) !== null;
  }

  /** @param {Card} card @param {boolean} held */
  #hold(card, held) {
    this.#middle.hold(card, held);
    this.#hand.hold(card, held);
  }

  // ---- what the player does; true: it was something

  /** What the hand is for just now. @returns {'play' | 'pass' | 'rest'} */
  #mode() {
    const { interactive, seat, people } = this.#host;
    if (!interactive || seat === null || people().chairs[seat] === 'away') return 'rest';
    const { phase, toAct } = this.#now();
    if (!toAct.includes(seat) || this.#underWay(phase === 'passing' ? 'pass' : 'play')) return 'rest';
    return phase === 'passing' ? 'pass' : phase === 'playing' ? 'play' : 'rest';
  }

  /** An action of ours that is not answered yet. @param {string} verb */
  #underWay(verb) {
    return this.#latest?.pending.find(({ action, doomed }) => !doomed && action[0] === verb)?.action;
  }

  /** @param {...string} verbs */
  #sending(...verbs) {
    return verbs.some((verb) => this.#underWay(verb) !== undefined);
  }

  /** Changes with every turn. */
  #moment() {
    const { handNumber, trickNumber, phase } = this.#now();
    return `${handNumber} ${trickNumber} ${phase}`;
  }

  /** @param {Card} card */
  #tap(card) {
    const mode = this.#mode();
    this.#hurry();
    if (mode === 'pass') this.#choose(card);
    else if (mode === 'play') this.#playCard(card);
    else this.#sayWhyNot(card);
    this.#paint();
  }

  /** Says why something cannot be done, until something is done. @param {string} text @param {string} kind @param {Card} [card] */
  #refuse(text, kind, card) {
    const { notices, pace } = this.#host;
    if (card !== undefined) this.#hand.shake(card, pace());
    this.#unsay();
    this.#unsay = notices.toast(text, kind);
  }

  /** @param {Card} card */
  #choose(card) {
    if (!this.#chosen.has(card) && this.#chosen.size === 3) return this.#refuse(this.#host.i18n.t('hearts.threeChosen'), 'three-chosen', card);
    if (!this.#chosen.delete(card)) this.#chosen.add(card);
    this.#unsay();
  }

  /** @param {Card} card */
  #playCard(card) {
    const { legal, why } = this.#now();
    const { settings, codeText } = this.#host;
    if (!legal.includes(card)) {
      this.#refuse(codeText(why), why, card);
    } else if (settings.get('hearts.twoTaps') && !this.#chosen.has(card)) {
      this.#chosen = new Set([card]);
    } else {
      this.#chosen.clear();
      this.#act(['play', card], false);
    }
  }

  /** @param {Card} card */
  #sayWhyNot(card) {
    const { seat, people, codeText, back } = this.#host;
    const { phase } = this.#now();
    if (seat === null || this.#underWay('play') || this.#underWay('pass')) return;
    // Whoever reaches for a card is back; with this tap nothing is played, as it was meant for another moment.
    if (people().chairs[seat] === 'away') return back?.();
    const code = phase === 'passing' ? 'already_passed' : 'not_your_turn';
    this.#refuse(codeText(code), code, card);
  }

  #pass() {
    if (this.#mode() !== 'pass') return false;
    if (this.#chosen.size !== 3) {
      this.#refuse(this.#host.i18n.t('hearts.chooseThree'), 'choose-three');
      return true;
    }
    return this.#act(['pass', ...this.#chosen], true);
  }

  /** @param {Action} action @param {boolean} anytime */
  #act(action, anytime) {
    if (this.#underWay(action[0])) return true;
    this.#unsay();
    this.#meant = this.#moment();
    this.#host.act(action, { anytime });
    return true;
  }

  #askClaim() {
    const { t } = this.#host.i18n;
    const dialog = showDialog({
      role: 'claim',
      title: t('hearts.claim'),
      closeLabel: t('close'),
      body: [h('p', null, t('hearts.claimMore', { n: this.#now().hand(this.#base)?.length ?? 0 }))],
      choices: [
        { role: 'claim-confirm', kind: 'main', label: t('hearts.claimIt'), run: () => void this.#act(['claim'], true) },
        { role: 'claim-cancel', label: t('hearts.claimNot') },
      ],
    });
    return dialog.open;
  }

  /** @param {string} key */
  #moveKey(key) {
    const hand = this.#hand;
    if (key === 'ArrowLeft') return hand.move(-1);
    if (key === 'ArrowRight') return hand.move(1);
    if (!hand.focused) return false;
    if (key === 'Home') return hand.move('first');
    if (key === 'End') return hand.move('last');
    if (key !== 'Escape' || !this.#chosen.size) return false;
    this.#chosen.clear();
    this.#paint();
    return true;
  }

  #keepChosen() {
    if (this.#mode() === 'rest' && this.#now().phase !== 'passing') this.#chosen.clear();
    const held = this.#now().hand(this.#base) ?? [];
    for (const card of this.#chosen) if (!held.includes(card)) this.#chosen.delete(card);
  }

  // ---- what is shown when

  /** Shows a view at once, however it came about. @param {View} view */
  #jump(view) {
    const first = this.#shown === null;
    this.#stopShowing();
    this.#flights.end();
    this.#endFeast();
    this.#shown = view;
    const now = this.#seen();
    if (first && now.phase === 'over') this.#keepFeast();
    this.#swept = this.#wholeTrick(now) ?? '';
    this.#middle.showBroken(now.broken, false);
    if (first && this.#host.interactive && !this.#host.kept) this.#firstSight(now);
  }

  /** @param {Spread} now */
  #firstSight(now) {
    const fresh = now.phase === 'passing' || (now.phase === 'playing' && now.trickNumber === 1 && !now.trick(1));
    if (!fresh) return;
    this.#host.notices.announce(dealt(this.#host.i18n, /** @type {View} */ (this.#shown)));
    requestAnimationFrame(() => this.#hand.deal(this.#host.pace()));
  }

  /** Shows what has happened, step by step. @param {View} view */
  #follow(view) {
    const last = this.#queue.at(-1) ?? /** @type {View} */ (this.#shown);
    this.#queue.push(...unfolded(last, view));
    if (this.#queue.length > MOST_STEPS) this.#hurry();
    if (this.#timer === undefined) this.#advance();
  }

  /** Takes one step, and waits as long as it is to be seen. */
  #advance() {
    this.#timer = undefined;
    const whole = this.#wholeTrick(this.#seen());
    if (whole && whole !== this.#swept) {
      this.#sweep(whole);
      this.#wait(motion.SWEPT_MS * this.#host.pace());
    } else if (this.#queue.length) {
      this.#wait(this.#step(/** @type {View} */ (this.#queue.shift())));
    }
    this.#paint();
  }

  /** @param {number} ms */
  #wait(ms) {
    this.#timer = setTimeout(() => this.#advance(), ms);
  }

  /** All that is on its way is there. */
  #hurry() {
    if (this.#timer === undefined) return;
    this.#stopShowing(false);
    for (const view of this.#queue.splice(0)) {
      this.#sweepNow();
      this.#step(view);
    }
    if (this.#latest && this.#seen().phase !== 'playing') this.#sweepNow();
    else this.#wait(HOLD_HURRIED_MS);
    this.#paint();
  }

  #stopShowing(forget = true) {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (forget) this.#queue = [];
  }

  #sweepNow() {
    const whole = this.#wholeTrick(this.#seen());
    if (whole && whole !== this.#swept) this.#sweep(whole);
  }

  /** The name of the trick on the table if it has all its cards. @param {Spread} now */
  #wholeTrick(now) {
    const trick = trickOnTable(now);
    if (trick?.cards.length !== 4) return null;
    return `${now.handNumber} ${trick.cards.join(' ')}`;
  }

  /** @param {View} view @returns {number} how long it is to be seen, in ms */
  #step(view) {
    const before = /** @type {View} */ (this.#shown);
    const [was, now] = [spread(before), spread(view)];
    this.#shown = view;
    this.#say(before, view);
    if (now.handNumber !== was.handNumber) return this.#newHand(now);
    this.#paint();
    if (was.phase === 'passing' && now.phase === 'playing') return this.#exchange(was, now);
    const [played] = plays(before, view);
    if (played) this.#fly(played, was);
    if (now.broken && !was.broken) {
      this.#middle.showBroken(true, true);
      this.#host.sound('broken');
    }
    if (now.phase === 'over' && was.phase !== 'over') this.#celebrate(now);
    if (this.#wholeTrick(now) && played?.last) return this.#queue.length > 1 ? HOLD_HURRIED_MS : HOLD_MS;
    return this.#queue.length ? GAP_MS * Math.max(0.5, this.#host.pace()) : 0;
  }

  /** @param {import('./view.js').Play} played @param {Spread} was */
  #fly({ seat, card }, was) {
    const own = this.#place(seat) === 0 && this.#handShown();
    const open = own || was.hand(seat) !== null;
    const from = own ? this.#inHand(card) : this.#home(seat);
    motion.play(this.#stage, { card, from, to: this.#inTrick(seat), open });
    this.#host.sound('card');
  }

  /** @param {string} whole */
  #sweep(whole) {
    const now = this.#seen();
    const trick = trickOnTable(now);
    this.#swept = whole;
    if (!trick) return;
    const cards = trick.cards.map((card, k) => ({ card, from: this.#inTrick(playerOf(trick, k)) }));
    motion.sweep(this.#stage, { cards, to: this.#lying(this.#plates[trick.winner].element, this.#sizes.fan), points: this.#costText(trick.cards, now.omnibus) });
  }

  /** What a trick has cost, as it flies to who took it. @param {Card[]} cards @param {boolean} omnibus */
  #costText(cards, omnibus) {
    const hearts = cards.filter((card) => Math.floor(card / 13) === 2).length;
    const parts = [hearts && `${hearts > 1 ? hearts : ''}♥`, cards.includes(50) && 'Q♠', omnibus && cards.includes(23) && 'J♦'];
    return parts.filter(Boolean).join(' ');
  }

  /** @param {Spread} now */
  #newHand(now) {
    this.#swept = '';
    this.#middle.showBroken(false, false);
    this.#paint();
    this.#hand.deal(this.#host.pace());
    if (this.#host.interactive && this.#isAdrift()) this.#hand.focus();
    if (now.phase === 'playing') this.#host.notices.toast(this.#host.i18n.t('hearts.noPass'), 'no-pass');
    return 0;
  }

  /** Everybody's cards go to their neighbours. @param {Spread} was @param {Spread} now */
  #exchange(was, now) {
    const seat = this.#base;
    const fresh = received(now, seat);
    for (const giver of SEATS) {
      const receiver = (giver + now.passOffset) % 4;
      const given = now.given(giver);
      for (let k = 0; k < 3; k++) {
        const [out, into] = [giver === seat && was.hand(seat), receiver === seat && fresh.length > 0];
        const from = out ? this.#inHand(given[k]) : this.#home(giver);
        const to = into ? this.#inHand(fresh[k]) : this.#home(receiver);
        motion.pass(this.#stage, { card: into ? fresh[k] : out ? given[k] : null, from, to, delay: k * PASS_STAGGER_MS });
      }
    }
    this.#host.sound('take');
    return PASSING_MS * this.#host.pace();
  }

  /** @param {View} before @param {View} view */
  #say(before, view) {
    const { i18n, people, seat, notices } = this.#host;
    const said = happened(i18n, people(), seat, before, view);
    if (said.length) notices.announce(said.join(' '));
  }

  /** Says so when it is the player's turn. @param {Spread} was @param {Spread} now */
  #callToAct(was, now) {
    const { seat, interactive, notices, sound } = this.#host;
    if (!interactive || seat === null || now.phase !== 'playing' || !now.toAct.includes(seat)) return;
    if (was.phase === 'playing' && was.toAct.includes(seat) && was.trickNumber === now.trickNumber) return;
    notices.announce(this.#statusText(now));
    sound('turn');
  }

  /** @param {Spread} now */
  #celebrate(now) {
    const { seat, sound, pace } = this.#host;
    if (seat === null || !now.winners.includes(seat)) return;
    sound('win');
    this.#feast = rise(this.#air, pace());
  }

  /** A feast that has begun at the table that was drawn here before goes on at this one. */
  #keepFeast() {
    const kept = /** @type {Kept | undefined} */ (this.#host.kept);
    if (!kept?.feast) return;
    this.#feast = kept.feast;
    this.#air.append(kept.feast);
  }

  #endFeast() {
    this.#feast?.remove();
    this.#feast = null;
  }

  // ---- what is seen

  #paint() {
    if (!this.#latest || !this.#shown) return;
    const [now, seen] = [this.#now(), this.#seen()];
    const settled = this.#timer === undefined && !this.#queue.length && (this.#wholeTrick(seen) ?? this.#swept) === this.#swept;
    set(this.#root, { 'data-version': this.#latest.version, 'data-phase': now.phase, 'data-turn': now.toAct.join(' '), 'data-settled': settled });
    this.#paintHand(now, seen);
    this.#paintMiddle(seen);
    for (const seat of SEATS) this.#paintSeat(seat, seen);
    this.#paintStatus(now);
    this.#paintPanel(now, settled);
    this.#paintFrame(seen);
    this.tick();
  }

  /** @param {Spread} now @param {Spread} seen */
  #paintHand(now, seen) {
    const { codeText } = this.#host;
    const mode = this.#mode();
    const current = mode === 'rest' ? seen : now;
    const cards = current.hand(this.#base);
    set(this.#root, { 'data-hidden-hand': cards === null });
    if (!cards) return;
    const given = now.phase === 'passing' ? now.given(this.#base) : [];
    const pending = this.#underWay('pass');
    const chosen = given.length ? given : pending ? pending.slice(1).map(Number) : [...this.#chosen];
    this.#hand.show({
      cards,
      mode,
      legal: new Set(now.legal),
      why: mode === 'play' && now.why ? codeText(now.why) : '',
      chosen: new Set(chosen),
      fresh: new Set(current.trickNumber === 1 && current.phase === 'playing' ? received(current, this.#base) : []),
      going: new Set((pending ?? this.#underWay('play') ?? []).slice(1).map(Number)),
    });
  }

  /** @param {Spread} seen */
  #paintMiddle(seen) {
    const whole = this.#wholeTrick(seen);
    const swept = whole !== null && whole === this.#swept;
    const trick = seen.phase === 'passing' || seen.claimed || swept ? null : trickOnTable(seen);
    this.#middle.show(trick, (seat) => this.#nameText(seat));
    this.#middle.showBroken(seen.broken, false);
  }

  /** @param {number} seat @param {Spread} seen */
  #paintSeat(seat, seen) {
    const { i18n, people } = this.#host;
    const { t, number } = i18n;
    const plate = this.#plates[seat];
    plate.show(people());
    const points = seen.phase === 'playing' ? seen.points[seat] : 0; // later they are in the total
    const line = `${number(seen.totals[seat])} ${points > 0 ? '+' : ''}${points ? number(points) : ''}`;
    if (plate.line.dataset.seen !== line) {
      plate.line.dataset.seen = line;
      plate.line.replaceChildren(
        h('span', { class: 'total', 'data-role': 'total' }, h('span', { class: 'visually-hidden' }, `${t('hearts.sheet.total')} `), number(seen.totals[seat])),
        ...(points ? [h('span', { class: 'taken', 'data-role': 'taken', 'data-good': points < 0 }, h('span', { class: 'visually-hidden' }, `${t('hearts.thisHand')} `), points > 0 ? `+${number(points)}` : number(points))] : []),
      );
    }
    const fan = this.#fans[seat];
    const cards = seen.hand(seat);
    const held = seen.held(seat);
    const look = cards ? cards.join(' ') : `back ${held}`;
    if (fan.dataset.look === look) return;
    set(fan, { 'data-look': look, 'data-held': held, 'data-open': cards !== null, 'aria-label': t('hearts.holds', { n: held }) });
    fan.replaceChildren(...(cards ? cards.map(faceOf) : Array.from({ length: held }, cardBack)));
    set(fan, { 'data-column': false });
    this.#open[seat] = cards ?? [];
    this.#laySide(seat);
  }

  /** @param {Spread} now */
  #paintStatus(now) {
    const nodes = this.#statusNodes(now);
    const text = nodes.map((node) => (typeof node === 'string' ? node : node.textContent)).join('');
    if (this.#status.textContent !== text) this.#status.replaceChildren(...nodes);
    set(this.#status, { 'data-mine': this.#mode() === 'play', 'data-sending': this.#sending('play', 'claim') });
    const may = now.mayClaim && this.#mode() === 'play';
    set(this.#claim, { hidden: !may });
  }

  /** @param {Spread} now */
  #statusText(now) {
    return this.#statusNodes(now).map((node) => (typeof node === 'string' ? node : node.textContent)).join('');
  }

  /** @param {Spread} now @returns {(string | Node)[]} */
  #statusNodes(now) {
    const { i18n, seat, people } = this.#host;
    const { t, nodes } = i18n;
    if (now.phase !== 'playing') return [];
    const [turn] = now.toAct;
    if (turn === seat && people().chairs[seat] === 'away') return [];
    if (this.#sending('play', 'claim')) return [t('hearts.sending')];
    if (turn !== seat) return turn === undefined ? [] : nodes('hearts.status.turn', { name: nameTag(nameOf(i18n, people(), turn)) });
    if (now.trick(now.trickNumber)) return [t('hearts.status.yours')];
    return [t(now.trickNumber === 1 && String(now.legal) === String([TWO_OF_CLUBS]) ? 'hearts.status.twoOfClubs' : 'hearts.status.lead')];
  }

  /** @param {Spread} now @param {boolean} settled */
  #paintPanel(now, settled) {
    const { seat, interactive } = this.#host;
    const passed = !interactive || seat === null ? !this.#handShown() : now.passed(seat) || this.#underWay('pass') !== undefined;
    const focused = this.#panel.element.contains(document.activeElement);
    const was = this.#panel.element.dataset.panel;
    this.#panel.show({
      now,
      chosen: this.#chosen.size,
      canPass: this.#mode() === 'pass',
      passed,
      ready: !interactive || seat === null ? !this.#handShown() : !now.toAct.includes(seat) || this.#underWay('next') !== undefined,
      sending: this.#sending('pass', 'next'),
      settled,
    });
    this.#keepFocus(focused, was);
  }

  /** Who comes to the table is at their hand. */
  #takeFocus() {
    if (this.#host.interactive && comesTo(this.#root)) this.#hand.focus();
  }

  /** Whether the focus is at nothing in particular. */
  #isAdrift() {
    return document.activeElement?.contains(this.#root) ?? true;
  }

  /** The focus is where the player has something to do. @param {boolean} focused @param {string | undefined} was */
  #keepFocus(focused, was) {
    const kind = this.#panel.element.dataset.panel;
    if (!this.#host.interactive || kind === was) return;
    const lost = this.#isAdrift();
    if (kind === 'scored' || kind === 'over') {
      const button = this.#panel.element.querySelector('.main');
      if (lost && button instanceof HTMLElement) button.focus({ preventScroll: true });
    } else if (focused && lost) this.#hand.focus();
  }

  /** @param {Spread} seen */
  #paintFrame(seen) {
    const { frame, i18n } = this.#host;
    frame.setInfo('hand', i18n.number(seen.handNumber));
    frame.setInfo('target', `${i18n.t('hearts.info.to', { n: seen.target })}${seen.omnibus ? ' · J♦' : ''}`, seen.omnibus ? i18n.t('hearts.omnibus') : '');
    frame.setInfo('hearts', i18n.t(seen.broken ? 'hearts.info.broken' : 'hearts.info.unbroken'));
    frame.enableTool('last-trick', lastTrick(seen) !== null);
  }

  /** @param {number} seat */
  #nameText(seat) {
    return isolatedName(this.#host.i18n, this.#host.people(), seat);
  }

  // ---- on demand

  #showSheet() {
    const { i18n, people, facts } = this.#host;
    const { t } = i18n;
    const now = this.#now();
    const how = [...(now.omnibus ? [t('hearts.omnibusName')] : []), ...(facts?.() ?? [])];
    const body = now.sheet.length ? [sheet(i18n, people(), now, this.#order)] : [h('p', null, t('hearts.sheet.empty'))];
    showDialog({ role: 'sheet', title: t('hearts.sheet'), closeLabel: t('close'), body: [...body, h('p', { class: 'hint' }, t('hearts.sheet.target', { n: now.target })), how.length > 0 && h('ul', { class: 'table-facts', 'data-role': 'facts' }, how.map((fact) => h('li', null, fact)))].filter((node) => node !== false) });
    return true;
  }

  #showLastTrick() {
    const { i18n, people } = this.#host;
    const { t } = i18n;
    const trick = lastTrick(this.#now());
    if (!trick) return false;
    const card = (/** @type {Card} */ its, /** @type {number} */ k) => {
      const seat = playerOf(trick, k);
      const marks = [k === 0 && t('hearts.led'), seat === trick.winner && t('hearts.took')].filter(Boolean).join(', ');
      return h('li', { 'data-seat': seat, 'data-card': its, 'data-winning': seat === trick.winner }, faceOf(its), h('span', { class: 'visually-hidden' }, nameOfCard(i18n, its)), nameTag(nameOf(i18n, people(), seat)), h('small', null, marks));
    };
    showDialog({ role: 'last-trick', title: t('hearts.tool.lastTrick'), closeLabel: t('close'), body: [h('ol', { class: 'last-trick' }, trick.cards.map(card))] });
    return true;
  }
}
