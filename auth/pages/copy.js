/**
 * A button that has `data-copy` puts the text of the element with that id on the clipboard. Without this
 * script one selects the text.
 */
for (const button of document.querySelectorAll('button[data-copy]')) {
  const shown = document.getElementById(button.dataset.copy);
  if (shown === null || navigator.clipboard === undefined) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(shown.textContent.trim());
    button.textContent = 'Copied';
  });
}
