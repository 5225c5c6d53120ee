import * as z from 'zod';
import { type DemoPerson, DONE_BEFORE, type Send } from '#kernel/demo/demo.ts';
import { StartRefused } from '#shared/process/start-refused.ts';

const CONFLICT = 409;
const Made = z.object({ id: z.number() });

/** Registers somebody, or finds by the key whom an earlier run has registered. Returns the id. */
export const makePerson = async (send: Send, seed: number, { name, email, role }: DemoPerson): Promise<number> => {
  const key = `demo-${seed}-person-${email}`;
  const { status, body } = await send('POST', '/users', { key, body: { name, email, role }, expected: [CONFLICT] });
  if (status !== CONFLICT) return Made.parse(body).id;
  throw new StartRefused(`${email} is somebody else's address already: make a demo of its own with another --seed.`);
};

/** What becomes of somebody when everything else is made. */
export const changePerson = async (send: Send, id: number, later: NonNullable<DemoPerson['later']>): Promise<void> => {
  if (later === 'deleted') await send('DELETE', `/users/${id}`, { expected: DONE_BEFORE });
  else await send('PATCH', `/users/${id}`, { body: later, ifVersion: 1, expected: DONE_BEFORE });
};

const Listed = z.array(z.object({ id: z.number(), email: z.string().nullish(), role: z.string().optional() }));
const PAGES_MAX = 100;
const PAGE = 100;

/** Those who are still there. */
export const readPeople = async (send: Send, people: readonly DemoPerson[]): Promise<z.infer<typeof Listed>> => {
  const addresses = new Set(people.map(({ email }) => email));
  const found: z.infer<typeof Listed> = [];
  let path: string | undefined = `/users?limit=${PAGE}`;
  for (let page = 0; path !== undefined && page < PAGES_MAX; page += 1) {
    const { body, next } = await send('GET', path);
    found.push(...Listed.parse(body).filter(({ email }) => addresses.has(email ?? '')));
    path = found.length < addresses.size ? next : undefined;
  }
  return found;
};
