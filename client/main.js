// Owns: starting up: puts the parts together and shows the page of the address.

import './styles/base.css';
import './styles/cards.css';
import './styles/frame.css';
import './styles/table.css';
import './styles/pages.css';
import './styles/days.css';
import { App, DEFAULTS } from './app.js';
import { addTexts } from './games.js';
import { I18n } from './i18n.js';
import { Net } from './net.js';
import { allTime } from './pages/all-time.js';
import { calendar } from './pages/calendar.js';
import { day } from './pages/day.js';
import { deal } from './pages/deal.js';
import { group } from './pages/group.js';
import { home } from './pages/home.js';
import { learn } from './pages/learn.js';
import { live } from './pages/live.js';
import { me } from './pages/me.js';
import { missing } from './pages/message.js';
import { play } from './pages/play.js';
import { example, replay } from './pages/replay.js';
import { rules } from './pages/rules.js';
import { Router, pageTitle } from './router.js';
import { Settings, pendingKeeper, placesKeeper } from './storage.js';
import { artwork } from './ui/card.js';
import { closeDialog, redrawDialog, whenNoneStays, withDialogs } from './ui/dialog.js';
import { h } from './ui/dom.js';
import { attend, keepAtHand, letGo, scrollBack } from './ui/keep.js';
import { Notices } from './ui/notices.js';
import { Wire } from './wire.js';

const page = /** @type {HTMLElement} */ (document.getElementById('page'));
const skip = /** @type {HTMLElement} */ (document.querySelector('[data-role="skip"]'));

const settings = new Settings(DEFAULTS);
const i18n = new I18n();
addTexts(i18n);
const notices = new Notices(document.body);
const wire = new Wire({ firstId: randomId(), keeper: pendingKeeper });
const net = new Net(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`, wire);
const app = new App({ root: page, i18n, settings, wire, net, notices });

const router = new Router(
  [
    [/^\/$/, () => home(app)],
    [/^\/g\/([^/]{1,100})$/, ([session], kept) => play(app, session, kept)],
    [/^\/r\/([^/]+)$/, ([session], kept) => replay(app, session, kept)],
    [/^\/d\/([^/]+)$/, ([code]) => deal(app, code)],
    [/^\/daily$/, () => day(app, null)],
    [/^\/daily\/([^/]+)$/, ([date]) => day(app, date)],
    [/^\/calendar$/, () => calendar(app, null)],
    [/^\/calendar\/(\d{4}-(?:0[1-9]|1[0-2]))$/, ([month]) => calendar(app, month)],
    [/^\/all-time$/, () => allTime(app)],
    [/^\/live$/, () => live(app)],
    [/^\/me$/, () => me(app)],
    [/^\/join\/([^/]+)$/, ([id]) => group(app, id)],
    [/^\/rules\/([^/]+)$/, ([game]) => rules(app, game)],
    [/^\/learn\/([^/]+)$/, ([game]) => learn(app, game)],
    [/^\/examples\/([^/]+)$/, ([game], kept) => example(app, game, kept)],
  ],
  () => missing(app),
  () => {
    app.withdraw();
    closeDialog();
    letGo();
  },
  (title, how, top) => {
    document.title = pageTitle(title);
    if (how === 'other') scrollBack(top);
  },
  placesKeeper,
);
app.go = (path, how) => router.go(path, how);

/** Whether the store is away, as far as the server has told. */
let storeAway = false;

/** Speaks the language that is chosen. @returns {boolean} whether it is another than before */
function speak() {
  const before = i18n.language;
  const language = settings.get('language');
  i18n.choose(language === 'auto' ? navigator.languages : [language]);
  document.documentElement.lang = i18n.language;
  skip.textContent = i18n.t('skip');
  return i18n.language !== before;
}

/** The page, and a dialog that can be, are drawn anew in the language that is chosen. */
function followLanguage() {
  keepAtHand(() => {
    if (speak()) router.redraw();
    redrawDialog();
    showConnection();
  });
}

function showConnection() {
  const { t } = i18n;
  document.documentElement.dataset.connection = net.state;
  document.documentElement.toggleAttribute('data-beginning', wire.asking);
  if (net.state === 'refused') {
    const reload = h('button', { type: 'button', class: 'button plain', onclick: () => location.reload() }, t('connection.reload'));
    return notices.banner(t('connection.refused'), reload);
  }
  if (net.state !== 'lost') return notices.banner(storeAway ? t('connection.store') : '');
  const kept = wire.pending.length;
  const more = wire.asking ? t('connection.asked') : kept ? t('connection.kept', { n: kept }) : '';
  notices.banner(`${t('connection.lost')} ${more}`.trim());
}

/** A start for action ids that no other tab will meet, above all refs. */
function randomId() {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return ((high % 2 ** 19) + 1) * 2 ** 32 + low;
}

settings.on('change', (name) => {
  // In a dialog something may have been typed or begun: until it is closed all stays as it is.
  if (name === 'language' || name === '*') whenNoneStays(followLanguage);
});
skip.addEventListener('click', (event) => {
  event.preventDefault();
  document.getElementById('main')?.focus({ preventScroll: true });
  scrollTo(0, 0);
});
net.on('state', (state) => {
  if (state === 'lost') storeAway = false; // the next connection is told anew if it still is
  showConnection();
});
wire.on('pending', showConnection);
wire.on('asking', showConnection);
wire.on('store', (answering) => {
  storeAway = !answering;
  showConnection();
});
wire.on('late', (code) => notices.toast(app.codeText(code), code));
withDialogs((place) => notices.moveTo(place));

document.body.prepend(artwork());
attend();
speak();
showConnection();
net.start();
router.start();
app.arrived = true;
