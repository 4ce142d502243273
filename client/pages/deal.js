// Owns: the page of a shared deal: begins a game of it and gives way to that.

import { games } from '../games.js';
import { h } from '../ui/dom.js';
import { dealing, message } from './message.js';

/** @param {import('../app.js').App} app @param {string} code @returns {import('../router.js').Shown} */
export function deal(app, code) {
  const { t } = app.i18n;
  app.wire.leave();
  const game = [...games.values()].find(({ readsCode }) => readsCode?.(code));
  if (!game) return message(app, app.codeText('bad_code'));
  const dealt = dealing(app);
  const date = game.day?.(code);
  let here = true;
  void app.begin(game.name, { code }, { replace: true }).then((refused) => {
    if (!refused || !here) return;
    dealt();
    message(app, app.codeText(refused), date && h('a', { class: 'button main', href: `/daily/${date}`, 'data-role': 'to-day' }, t('daily.toDay')));
  });
  const destroy = () => {
    here = false;
    dealt();
  };
  return { title: t(game.title), destroy };
}
