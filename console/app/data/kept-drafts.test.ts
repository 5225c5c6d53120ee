import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { until } from '../../../testing/until.ts';

/** A tab has its own copy of the module, as in a browser; all share the browser's local storage. */
const openTab = async () => {
  vi.resetModules();
  return import('./kept-drafts.ts');
};

/** The entries are own properties, as those of browsers. */
const createStorage = (charactersMax = 1_000): Storage => {
  const entries: Record<string, string> = {};
  const methods = {
    getItem: (key: string) => entries[key] ?? null,
    setItem: (key: string, value: string) => {
      if (value.length > charactersMax) throw new DOMException('full', 'QuotaExceededError');
      entries[key] = value;
    },
    removeItem: (key: string) => {
      delete entries[key];
    },
  };
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(entries, name, { value });
  return entries as unknown as Storage;
};

const FORM = { owner: '7001', path: '/console/data/articles/8001/do/edit' };

beforeEach(() => {
  vi.stubGlobal('sessionStorage', createStorage());
  vi.stubGlobal('localStorage', createStorage());
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const crash = (): void => void vi.stubGlobal('sessionStorage', createStorage());

/** In a crash, the locks of a tab end with it. */
const leave = async (owner = FORM.owner, id = 'left', content: unknown = { title: 'Half' }) => {
  localStorage.setItem(
    `annals.console.draft:${owner}:${id}`,
    JSON.stringify({ path: FORM.path, atMs: Date.now(), content }),
  );
  return openTab();
};

test('the tab has its input again; a form elsewhere and another user have not', async () => {
  const { keep, keptInTab } = await openTab();
  keep(FORM, { id: 'one', content: { title: 'Half' } });
  expect(keptInTab(FORM)).toEqual({ id: 'one', content: { title: 'Half' } });
  expect([keptInTab({ ...FORM, path: '/x' }), keptInTab({ ...FORM, owner: '700' })]).toEqual([
    undefined,
    undefined,
  ]);
});

test('input is offered once its tab is gone, and until it is discarded', async () => {
  const { leftBehind, discard } = await leave();
  expect(await leftBehind(FORM)).toMatchObject([{ id: 'left', content: { title: 'Half' } }]);
  expect(await leftBehind({ ...FORM, path: '/x' })).toEqual([]);
  expect(await leftBehind({ ...FORM, owner: '700' })).toEqual([]);
  discard(FORM, 'left');
  expect(await leftBehind(FORM)).toEqual([]);
});

test('input of a tab that is open is not offered to another one', async () => {
  const { keep, forget } = await openTab();
  keep(FORM, { id: 'open', content: 'Half' });
  crash();
  const { leftBehind } = await openTab();
  await until(
    () => navigator.locks.query(),
    ({ held }) => held?.some(({ name }) => name?.endsWith(':open')) === true,
  );
  expect(await leftBehind(FORM)).toEqual([]);
  forget(FORM, 'open');
  expect(Object.keys(localStorage)).toEqual([]);
});

test('sent input leaves nothing behind', async () => {
  const { keep, forget } = await openTab();
  keep(FORM, { id: 'one', content: 'Half' });
  forget(FORM, 'one');
  expect([Object.keys(localStorage), Object.keys(sessionStorage)]).toEqual([[], []]);
});

test('another user who signs in ends the input of all others, and sign-out ends all', async () => {
  await leave();
  const { keep, forgetAll } = await leave('7002', 'two');
  keep({ ...FORM, owner: '70' }, { id: 'three', content: 'Half' });
  forgetAll('7001');
  expect(Object.keys(localStorage)).toEqual(['annals.console.draft:7001:left']);
  expect(Object.keys(sessionStorage)).toEqual([]);
  forgetAll();
  expect(Object.keys(localStorage)).toEqual([]);
});

test('the copy ends after a day, also if the clock was set back', async () => {
  const { leftBehind } = await leave();
  const now = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: now + 23 * 3_600_000 });
  expect(await leftBehind(FORM)).toHaveLength(1);
  vi.setSystemTime(now - 25 * 3_600_000);
  expect(await leftBehind(FORM)).toEqual([]);
  expect(Object.keys(localStorage)).toEqual([]);
});

test('what is stored may be broken, and too large input leaves no older one', async () => {
  localStorage.setItem('annals.console.draft:7001:broken', '{');
  localStorage.setItem('annals.console.draft:7001:null', 'null');
  sessionStorage.setItem(`annals.console.draft:7001:${FORM.path}`, '{"');
  const { keep, keptInTab, leftBehind } = await openTab();
  expect(keptInTab(FORM)).toBeUndefined();
  expect(await leftBehind(FORM)).toEqual([]);
  keep(FORM, { id: 'one', content: 'Half' });
  keep(FORM, { id: 'one', content: 'x'.repeat(2_000) });
  expect(keptInTab(FORM)).toBeUndefined();
});

test('a browser that keeps nothing has no drafts', async () => {
  vi.stubGlobal('sessionStorage', undefined);
  vi.stubGlobal('localStorage', undefined);
  const { keep, keptInTab, leftBehind, forgetAll } = await openTab();
  keep(FORM, { id: 'one', content: 'Half' });
  forgetAll();
  expect([keptInTab(FORM), await leftBehind(FORM)]).toEqual([undefined, []]);
});
