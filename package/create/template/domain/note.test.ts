import { test } from 'node:test';
import { rulesOf } from 'annals/testing';
import { served } from './domain.ts';
import { note } from './note.ts';

const { given } = rulesOf(served);
const created = ['created', { title: 'On engines', text: null }] as const;

test('a draft is published', () => given(note, created).when('publish').yields('published'));
test('what is published stays so', () => given(note, created, 'published').when('publish').changesNothing());
test('what is deleted is not published', () =>
  given(note, created, 'deleted').when('publish').refuses('note_deleted'));
