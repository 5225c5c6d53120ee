// Tabs of examples in several languages. A choice applies to all of them, and to later visits.
const KEY = 'annals-docs-example';
const groups = [...document.querySelectorAll('.tabs')].map((group) => [
  ...group.querySelectorAll('[role="tab"]'),
]);

const show = (name) => {
  for (const tabs of groups) {
    if (!tabs.some((tab) => tab.dataset.tab === name)) continue;
    for (const tab of tabs) {
      const isChosen = tab.dataset.tab === name;
      tab.setAttribute('aria-selected', isChosen);
      tab.tabIndex = isChosen ? 0 : -1;
    }
  }
};

/** A browser may forbid storage. */
const attempt = (action) => {
  try {
    return action();
  } catch {
    return null;
  }
};

const choose = (tab) => {
  // Content above the tab may change its height too; this keeps the tab at its place in the window.
  const top = tab.getBoundingClientRect().top;
  show(tab.dataset.tab);
  scrollBy(0, tab.getBoundingClientRect().top - top);
  attempt(() => localStorage.setItem(KEY, tab.dataset.tab));
};

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };
for (const tabs of groups) {
  for (const [index, tab] of tabs.entries()) {
    tab.tabIndex = index === 0 ? 0 : -1;
    tab.addEventListener('click', () => choose(tab));
    tab.addEventListener('keydown', (event) => {
      const ends = { Home: tabs[0], End: tabs.at(-1) };
      const next = event.key in STEPS ? tabs.at((index + STEPS[event.key]) % tabs.length) : ends[event.key];
      if (next === undefined) return;
      event.preventDefault();
      choose(next);
      next.focus();
    });
  }
}
const kept = attempt(() => localStorage.getItem(KEY));
if (kept !== null) show(kept);
