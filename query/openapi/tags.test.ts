import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref } from '#kernel/declare/fields.ts';
import { openApiDocument } from './document.ts';

const base = domain({ name: 'travels', roles: ['traveller'] });
const { aggregate, user } = base;
const travelClaim = aggregate('travelClaim', {
  owner: 'traveller',
  fields: { traveller: ref(user), title: line(100) },
  events: { opened: { creates: ['title'] } },
  commands: { open: { emits: 'opened' } },
  rights: { read: { traveller: 'own' }, write: { traveller: 'own' } },
});
const travelNote = aggregate('travelNote', {
  owner: 'writer',
  parent: 'travelClaim',
  fields: { writer: ref(user), travelClaim: ref(travelClaim), title: line(100) },
  events: { added: { creates: ['title'] } },
  commands: { add: { emits: 'added' } },
  rights: { read: { traveller: 'own' }, write: { traveller: 'own' } },
});

test('operations have the tag of their resource, also if its name has two words', () => {
  const options = {
    publicUrl: 'https://annals.example',
    issuerUrl: 'https://issuer.example',
    requireIfMatch: false,
  };
  const { paths } = openApiDocument({
    ...options,
    domain: assemble(base, [travelClaim, travelNote]),
  }) as unknown as {
    paths: Record<string, { get?: { tags: string[] } }>;
  };
  expect([
    paths['/travel-claims']?.get?.tags,
    paths['/travel-claims/{travelClaimId}/travel-notes']?.get?.tags,
  ]).toEqual([['Travel claims'], ['Travel notes']]);
});
