// Shows only entries whose names contain the typed text, and hides headings without visible entries.
const field = document.querySelector('#filter');
const found = document.querySelector('#filter-found');
const entries = [...document.querySelectorAll('[data-name]')];

const show = () => {
  const wanted = field.value.trim().toLowerCase();
  for (const entry of entries) entry.hidden = !entry.dataset.name.includes(wanted);
  const left = entries.filter((entry) => !entry.hidden).length;
  found.textContent = wanted === '' ? '' : `${left} of ${entries.length}`;
  for (const heading of document.querySelectorAll('main h2')) {
    let next = heading.nextElementSibling;
    let isEmpty = true;
    for (; next && next.tagName !== 'H2'; next = next.nextElementSibling)
      isEmpty &&= next.hidden || !('name' in next.dataset);
    heading.hidden = wanted !== '' && isEmpty;
  }
};
field.addEventListener('input', show);
// A link to a hidden entry shows all entries again.
addEventListener('hashchange', () => {
  if (!document.querySelector(':target')?.closest('[hidden]')) return;
  field.value = '';
  show();
  document.querySelector(':target')?.scrollIntoView();
});
// The browser may restore the text of an earlier visit.
if (field.value !== '') show();
