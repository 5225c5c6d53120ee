// Shows only the entries whose names have what is typed. Headings without an entry left go as well.
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
// A link to an entry that is hidden shows all of them again.
addEventListener('hashchange', () => {
  if (!document.querySelector(':target')?.closest('[hidden]')) return;
  field.value = '';
  show();
  document.querySelector(':target')?.scrollIntoView();
});
// What the browser has kept of an earlier visit.
if (field.value !== '') show();
