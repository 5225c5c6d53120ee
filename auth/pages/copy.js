/**
 * A button with `data-copy` copies the text of the element with that id to the clipboard. Without this
 * script, users select the text.
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
