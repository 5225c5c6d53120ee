import { createCollection, createOptimisticAction } from '@tanstack/react-db';
import { createClient } from 'annals/client';
import { browserSession } from 'annals/client/sign-in';
import { annalsCollection, annalsCommand } from 'annals/tanstack';
import type { expenses } from '../../../examples/expenses/domain/domain.ts';

/** The data of the page: two collections, and the commands that change them at once. */

const { annals: url = '', client: clientId = '' } = document.documentElement.dataset;
export const session = browserSession({ url, clientId, redirectUri: `${location.origin}/`, dpop: true });
const client = createClient<typeof expenses>({ url, token: session });

export const teams = createCollection(annalsCollection({ client, list: client.teams }));

export const claims = createCollection(
  annalsCollection({
    client,
    list: client.claims,
    subscribe: ['claim.*', 'team.*'],
    onInsert: ({ item, options }) =>
      client.claims.create({ teamId: item.team.id, purpose: item.purpose ?? '' }, options),
    onUpdate: async ({ unchanged, changes, options }) =>
      client.claims.edit(await unchanged(), { purpose: changes.purpose ?? '' }, options),
    onDelete: ({ original, options }) => client.claims.delete(original.id, options),
  }),
);

export const submit = createOptimisticAction(
  annalsCommand({
    onMutate: (id: number) =>
      void claims.update(id, (claim) => {
        claim.status = 'submitted';
      }),
    command: (id: number, options) => client.claims.submit(id, undefined, options),
  }),
);

/** Another user sees nothing of the last one. */
session.onChange(() => void Promise.all([claims.cleanup(), teams.cleanup()]));
