// If the navigation is longer than the window, scrolls it to the current page.
const side = document.querySelector('.side');
const current = side.querySelector('[aria-current]');
const isInSight = current === null || current.offsetTop + current.offsetHeight <= side.clientHeight;
if (!isInSight) side.scrollTop = current.offsetTop - side.clientHeight / 2;
