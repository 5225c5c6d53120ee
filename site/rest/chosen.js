// Opens the operation in the address as soon as its element exists. The address follows the operation opened
// last.
const openNamed = () => {
  const name = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const operation = name?.closest('details.operation');
  if (!operation || operation.open) return;
  operation.open = true;
  if (document.readyState !== 'loading') name.scrollIntoView();
};
addEventListener('hashchange', openNamed);

const arriving = new MutationObserver(openNamed);
arriving.observe(document, { childList: true, subtree: true });
document.addEventListener('DOMContentLoaded', () => arriving.disconnect());
openNamed();

document.addEventListener(
  'toggle',
  ({ target }) => {
    if (target.open && target.matches('details.operation'))
      history.replaceState(null, '', `#${target.querySelector('.demand').id}`);
  },
  true,
);
