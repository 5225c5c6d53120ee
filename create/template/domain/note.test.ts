import { test } from 'node:test';
import { rulesOf } from 'annals/testing';
import { served } from './domain.ts';
import { note } from './note.ts';

const { given } = rulesOf(served);
const created = ['created', { title: 'On engines', text: null }] as const;

test('a draft can be published', () => given(note, created).when('publish').yields('published'));
test('a published note stays published', () =>
  given(note, created, 'published').when('publish').changesNothing());
test('a deleted note cannot be published', () =>
  given(note, created, 'deleted').when('publish').refuses('note_deleted'));
