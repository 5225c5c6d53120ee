// A button that copies a block of code. The output of commands has none.
const COPIED_MS = 2000;

for (const block of document.querySelectorAll('main pre:not(.output)')) {
  const button = Object.assign(document.createElement('button'), {
    type: 'button',
    className: 'copy',
    textContent: 'Copy',
  });
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(block);
      button.textContent = 'Selected';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, COPIED_MS);
  });
  const frame = Object.assign(document.createElement('div'), { className: 'code' });
  block.replaceWith(frame);
  frame.append(block, button);
}
