// The page that checks proofs. Everything is local: it sends nothing, and may be saved and opened from a disk.
import { checkFile } from '../tree/check-file.ts';
import { checkCheckpoint } from '../tree/consistency-file.ts';
import { parseKeys } from '../tree/trusted-keys.ts';

/** As it was sent: without the contents of its fields. */
const page = `<!doctype html>\n${document.documentElement.outerHTML}`;

const find = (id) => document.getElementById(id);
const [proof, kept, keys, result] = ['proof', 'kept', 'keys', 'result'].map(find);

const made = (name, text, className) => {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (className !== undefined) element.className = className;
  return element;
};

const show = (...elements) => {
  result.replaceChildren(...elements);
};

const verdict = (isRight, text) => {
  const line = made('p', undefined, isRight ? 'verdict right' : 'verdict wrong');
  line.append(made('strong', isRight ? 'Proven: ' : 'Not proven. '), text);
  return line;
};

const stepsOf = (steps, remarks) => {
  const part = made('section');
  const list = made('ol', undefined, 'steps');
  for (const { says, isRight } of steps) {
    const item = made('li', undefined, isRight ? 'right' : 'wrong');
    const sign = made('span', isRight ? '✓' : '✗', 'sign');
    sign.setAttribute('role', 'img');
    sign.setAttribute('aria-label', isRight ? 'right' : 'wrong');
    item.append(sign, made('span', says));
    list.append(item);
  }
  part.append(list, ...remarks.map((remark) => made('p', remark, 'remark')));
  return part;
};

/** More lines would make the page slow; `annals audit check` prints all. */
const DETAILS_MAX = 500;

const detailsOf = (details) => {
  const part = made('section');
  part.append(made('h2', 'Contents'));
  const list = made('ul', undefined, 'contents');
  for (const line of details.slice(0, DETAILS_MAX)) list.append(made('li', line));
  if (details.length > DETAILS_MAX)
    list.append(
      made('li', `… and ${details.length - DETAILS_MAX} more lines, which annals audit check prints.`),
    );
  part.append(list);
  return part;
};

const check = () => {
  try {
    checkFields();
  } catch {
    // The verdict of a former file must not stay.
    show(verdict(false, 'The check failed in this browser: annals audit check does the same elsewhere.'));
  }
};

const checkFields = () => {
  const text = proof.value;
  if (text.trim() === '')
    return show(made('p', 'Give a proof: choose a file, drop it here, or paste its text.', 'hint'));
  const given = keys.value.trim();
  if (given === '')
    return show(made('p', 'Give the key of the log: a proof is worth what its key is worth.', 'hint'));
  const trusted = parseKeys(given);
  if (trusted === undefined) return show(verdict(false, 'The key is no key of a log.'));
  const older = kept.value.trim() === '' ? undefined : kept.value;
  const { isProven, sentence, steps, details, remarks } = checkFile(text, trusted, { kept: older });
  show(
    verdict(isProven, sentence),
    stepsOf(steps, remarks),
    ...(details.length > 0 ? [detailsOf(details)] : []),
  );
};

const names = new Map([
  [proof, 'proof'],
  [kept, 'kept checkpoint'],
  [keys, 'key'],
]);

/**
 * The texts of files that somebody chooses or drops go where they could also paste them. No file replaces a key or
 * a checkpoint, which may be from another source than the files.
 */
const takeAll = async (files) => {
  const said = [];
  const taken = new Set();
  for (const file of files) {
    const text = await file.text();
    const field = fieldOf(text);
    if (taken.has(field) || (field !== proof && field.value.trim() !== '')) {
      said.push(`${file.name} was not taken, because there is a ${names.get(field)} already.`);
      continue;
    }
    taken.add(field);
    field.value = text;
    if (field === kept) find('older').open = true;
    said.push(`${file.name} is the ${names.get(field)}.`);
  }
  find('taken').textContent = said.join(' ');
  check();
};

const fieldOf = (text) => {
  if (checkCheckpoint(text, []).failed === 'key') return kept;
  return parseKeys(text) === undefined ? proof : keys;
};

find('file').addEventListener('change', async ({ target }) => {
  await takeAll([...target.files]);
  target.value = '';
});
for (const field of [proof, kept, keys]) field.addEventListener('input', check);
find('check').addEventListener('submit', (event) => {
  event.preventDefault();
  check();
});
addEventListener('dragover', (event) => {
  event.preventDefault();
  document.body.classList.add('dropping');
});
addEventListener('dragleave', ({ relatedTarget }) => {
  if (relatedTarget === null) document.body.classList.remove('dropping');
});
addEventListener('drop', async (event) => {
  event.preventDefault();
  document.body.classList.remove('dropping');
  await takeAll([...event.dataTransfer.files]);
});

const own = find('own');
own?.addEventListener('click', () => {
  keys.value = own.dataset.keys;
  find('own-says').hidden = false;
  check();
});
find('save').addEventListener('click', () => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([page], { type: 'text/html' }));
  link.download = 'check-proofs.html';
  link.click();
});
