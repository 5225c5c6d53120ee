import { extendSchema, parse } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../../test/engines/schema.ts';
import { sameInKernel } from './same-in-kernel.ts';

const extended = extendSchema(
  schema,
  parse(`
    type Region { name: String! city: City }
    type City { mayor: User }
    extend type WebhookHealth { region: Region }
    extend type User { secret: String }`),
);

it('knows new fields of the kernel’s types, and the types that they lead to', () => {
  const { Webhook, WebhookHealth, Region, City } = sameInKernel(extended, new Set(['User']));
  expect(Webhook).toMatchObject({ health: 'all', owner: 'all' });
  expect(WebhookHealth).toMatchObject({ backlog: 'all', region: 'all' });
  expect([Region, City]).toEqual([{ name: 'all', city: 'all' }, { mayor: 'all' }]);
});

it('ends at the types of the domain', () => {
  expect(sameInKernel(extended, new Set(['User'])).User).toBeUndefined();
});
