// Owns: the page of a group of friends: to join it, to see who is in it, to bring others, to leave it.
//
// Hooks for tests: [data-role="group"] with data-member; group-join, group-board, group-copy, group-leave, group-members

import { ApiError, get, post } from '../api.js';
import { h, nameTag } from '../ui/dom.js';
import { showDialog } from '../ui/dialog.js';
import { copy, failure, loading, shell } from '../ui/shell.js';
import { tell } from './me.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../api.js').Group} Group */

/** @param {App} app @param {string} id @returns {import('../router.js').Shown} */
export function group(app, id) {
  const { t } = app.i18n;
  app.wire.leave();
  const asked = new AbortController();
  const place = h('div', null, loading(app));
  const load = async () => {
    try {
      const found = /** @type {Group} */ (await get(`/api/groups/${encodeURIComponent(id)}`, asked.signal));
      if (!asked.signal.aborted) place.replaceChildren(shown(app, found));
    } catch (error) {
      if (asked.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      place.replaceChildren(h('h1', null, t('group.title')), failure(app, error.message, () => void load()));
    }
  };
  shell(app, '/me', place);
  void load();
  return {
    title: t('group.title'),
    destroy: () => asked.abort(),
  };
}

/** @param {App} app @param {Group} group */
function shown(app, group) {
  const { t } = app.i18n;
  return h(
    'div',
    { class: 'group-page', 'data-role': 'group', 'data-member': group.member },
    h('h1', null, nameTag(group.name)),
    h('p', { class: 'lead' }, t('group.members', { n: group.count })),
    ...(group.member ? inside(app, group) : outside(app, group)),
  );
}

/** @param {App} app @param {Group} group */
function outside(app, { id }) {
  const { t } = app.i18n;
  const join = async () => {
    try {
      await post(`/api/groups/${encodeURIComponent(id)}/join`);
      app.notices.toast(t('group.joined'), 'joined');
      app.go(boardOf(id));
    } catch (error) {
      tell(app, error);
    }
  };
  return [
    h('p', null, t('group.invited')),
    h('div', { class: 'choices' }, h('button', { type: 'button', class: 'button main', 'data-role': 'group-join', onclick: () => void join() }, t('group.join'))),
  ];
}

/** The deal of the day with the group's own board. @param {string} id */
function boardOf(id) {
  return `/daily?group=${encodeURIComponent(id)}`;
}

/** @param {App} app @param {Group} group */
function inside(app, { id, members }) {
  const { t } = app.i18n;
  const link = `${location.origin}/join/${encodeURIComponent(id)}`;
  return [
    h('ul', { class: 'group-list', 'data-role': 'group-members' }, members.map(({ name, me }) => h('li', null, nameTag(name || t('board.nameless')), me && h('span', { class: 'hint' }, t('board.you'))))),
    h('p', null, t('group.invite')),
    h('p', { class: 'share-link', 'data-role': 'group-invite' }, link),
    h(
      'div',
      { class: 'choices' },
      h('a', { class: 'button main', href: boardOf(id), 'data-role': 'group-board' }, t('group.board')),
      h('button', { type: 'button', class: 'button plain', 'data-role': 'group-copy', onclick: () => void copy(app, link) }, t('share.link')),
      'share' in navigator && h('button', { type: 'button', class: 'button plain', onclick: () => void navigator.share({ url: link }).catch(() => {}) }, t('share.native')),
      h('button', { type: 'button', class: 'button plain', 'data-role': 'group-leave', onclick: () => askLeave(app, id) }, t('group.leave')),
    ),
  ];
}

/** @param {App} app @param {string} id */
function askLeave(app, id) {
  const { t } = app.i18n;
  const leave = () => post(`/api/groups/${encodeURIComponent(id)}/leave`).then(() => app.go('/me'), (error) => tell(app, error));
  showDialog({
    role: 'group-leave',
    title: t('group.leaveSure'),
    closeLabel: t('close'),
    body: [h('p', null, t('group.leaveMore'))],
    choices: [
      { role: 'group-stay', kind: 'main', label: t('group.stay') },
      { role: 'group-leave-sure', label: t('group.leave'), run: () => void leave() },
    ],
  });
}
