import { expect, test } from 'vitest';
import { parseNote } from './note.ts';
import { parseTreeHead, writeTreeHead } from './tree-head.ts';

// The examples of the specifications signed-note and tlog-checkpoint of C2SP, which come without their keys.

const NOTE = `Ognuno sta solo sul cuor della terra
trafitto da un raggio di sole:

ed è subito sera.

— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=
`;

const CHECKPOINT = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`;

test('a note may have empty lines in its text', () => {
  const note = parseNote(NOTE);
  expect(note?.text).toBe(NOTE.slice(0, NOTE.lastIndexOf('\n\n') + 1));
  expect(note?.signatures).toMatchObject([{ name: 'quasimodo.example/salvatore' }]);
  expect(note?.signatures[0]?.bytes).toHaveLength(64);
});

test('a checkpoint is a note with origin, size and root', () => {
  const note = parseNote(CHECKPOINT);
  const head = parseTreeHead(note?.text ?? '');
  expect(head).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20_852_163 });
  expect(head && writeTreeHead(head)).toBe(note?.text);
});
