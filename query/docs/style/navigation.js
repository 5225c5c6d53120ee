// Where the navigation is longer than the window, it begins near the page that is shown.
const side = document.querySelector('.side');
const current = side.querySelector('[aria-current]');
const isInSight = current === null || current.offsetTop + current.offsetHeight <= side.clientHeight;
if (!isInSight) side.scrollTop = current.offsetTop - side.clientHeight / 2;
