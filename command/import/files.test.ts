import { expect, test } from 'vitest';
import { receipts } from '../../test/toy/receipts.ts';
import { commandIn, commandNamed } from './command-of-line.ts';
import { withEventCommands } from './event-commands.ts';
import { lineOf } from './line.ts';

const domain = withEventCommands(receipts);
const parse = (line: object) => {
  const read = lineOf(JSON.stringify({ key: 'one', at: '2020-01-01T00:00:00Z', of: 1, ...line }), 1);
  return commandIn(new Map(), read, commandNamed(domain, read));
};

const REFUSED = 'files are not part of an import: leave the field out, and upload the file afterwards';

test.for([
  ['contract', 'claim.edit', {}, 'files/1.pdf'],
  ['overview', 'claim.edit', {}, '/uploads/1-2.png'],
  ['invoice', 'claim.changeItem', { item: 1 }, 'files/2.csv'],
  ['photo', 'claim.addItem', {}, '/uploads/1-2.png'],
] as const)('a form that names a file in %s is refused', ([name, command, more, value]) => {
  expect(() => parse({ command, ...more, form: { [name]: value } })).toThrow(`${name}: ${REFUSED}`);
});

test('a form may name a picture elsewhere, and clear a field', () => {
  const photo = 'https://pictures.example/1.png';
  expect(parse({ command: 'claim.changeItem', item: 1, form: { photo, invoice: null } })).toMatchObject({
    photo,
    invoice: null,
  });
});
