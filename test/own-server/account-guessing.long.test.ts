import { describe, expect } from 'vitest';
import { type HandBrowser, openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';
import { anAddress, from, password, test, type Visitor } from '../engines/account-visit.ts';

// Own server: clients come from many addresses, which the ingress accepts from no client.

describe('guessing', () => {
  const guess = (page: Seen, who: string, address: string, using: HandBrowser) =>
    using.post(page.action, { ...page.hidden, email: who, password: 'a wrong password' }, from(address));

  test.for<[string, (visitor: Pick<Visitor, 'site'>) => Promise<string>]>([
    [
      'an account',
      async ({ site }) => {
        const who = anAddress();
        await site.addPerson({ email: who, password });
        return who;
      },
    ],
    ['an address of nobody', async () => anAddress()],
  ])(
    'the password of %s is over after ten tries from an address, whatever the sign-in',
    async ([_what, make], { begin, browser, site }) => {
      const who = await make({ site });
      for (let times = 1; times <= 10; times += 1) {
        const fresh = openHandBrowser();
        expect((await guess(await begin({}, fresh), who, '192.0.2.1', fresh)).status).toBe(422);
      }
      const refused = await guess(await begin(), who, '192.0.2.1', browser);
      expect(refused.status).toBe(429);
      expect(refused.body).toMatch(/Too many attempts\. Try again in \d+ seconds\./);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(30);
    },
  );

  test('locks the owner out neither elsewhere nor in a known browser', async ({ begin, browser, site }) => {
    const who = anAddress();
    await site.addPerson({ email: who, password });
    const enter = async (using: HandBrowser, address: string) => {
      const page = await begin({ prompt: 'login' }, using);
      return (await using.post(page.action, { ...page.hidden, email: who, password }, from(address))).status;
    };
    const [known, elsewhere, stranger] = [openHandBrowser(), openHandBrowser(), openHandBrowser()];
    expect(await enter(known, '192.0.2.7')).toBe(303);
    const page = await begin();
    for (let times = 1; times <= 10; times += 1) await guess(page, who, '192.0.2.7', browser);
    expect(await enter(stranger, '192.0.2.7')).toBe(429);
    expect(await enter(known, '192.0.2.7')).toBe(303);
    expect(await enter(elsewhere, '192.0.2.8')).toBe(303);
    // A cookie of another person or a forged one has no effect.
    const [name = '', cookie] = [...known.cookies].find(([each]) => each.endsWith('annals_device')) ?? [];
    stranger.cookies.set(name, { value: `${cookie?.value.split('.')[0]}.${'A'.repeat(22)}`, path: '/' });
    expect(await enter(stranger, '192.0.2.7')).toBe(429);
  });

  test('is recorded without an actor when it locks an account', async ({ begin, browser, eventOf, site }) => {
    const who = anAddress();
    const userId = await site.addPerson({ email: who, password });
    const page = await begin();
    for (let times = 1; times <= 10; times += 1) await guess(page, who, '198.51.100.7', browser);
    const event = await until(() => eventOf('session.sign_in_failed', userId), Boolean);
    expect(event).toMatchObject({
      data: { userId, attempts: 10 },
      metadata: { actor: 'anonymous', client: 'reading-list' },
    });
  });
});
