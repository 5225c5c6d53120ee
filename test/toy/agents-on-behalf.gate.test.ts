// Over 200 lines, because all cases share one installation with an agent.

import { describe, expect } from 'vitest';
import { TOKEN_EXCHANGE } from '#shared/clients/settings.ts';
import { createClient } from '../../client/client.ts';
import type { expenses } from '../../examples/expenses/domain/domain.ts';
import { JOURNAL } from '../../testing/http/people.ts';
import { until } from '../../testing/until.ts';
import { test as base } from '../engines/agent-fixture.ts';

const BOT = 'claims-bot';
/** As the history names it. */
const THROUGH = `${JOURNAL.clientId}>${BOT}`;

const test = base
  .extend('bot', { scope: 'file' }, async ({ ask, people }) => {
    const { status, body } = await ask('POST', '/clients', {
      token: people.administrator.token,
      body: {
        clientId: BOT,
        name: 'Claims bot',
        grantTypes: [TOKEN_EXCHANGE],
        tokenEndpointAuthMethod: 'client_secret_basic',
        scopes: [
          ...['read:claims', 'write:claims', 'read:events', 'manage:tokens'],
          ...['approve:claims', 'read:agent-requests', 'confirm:agent-requests'],
        ],
      },
    });
    expect(status).toBe(201);
    return body as { readonly clientId: string; readonly secret: string };
  })
  .extend('onBehalfOf', { scope: 'file' }, ({ ask, bot }) => async (token: string, scope?: string) => {
    const { status, body } = await ask('POST', '/token', {
      type: 'application/x-www-form-urlencoded',
      headers: {
        authorization: `Basic ${Buffer.from(`${bot.clientId}:${encodeURIComponent(bot.secret)}`).toString('base64')}`,
      },
      body: new URLSearchParams({
        grant_type: TOKEN_EXCHANGE,
        subject_token: token,
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        ...(scope !== undefined && { scope }),
      }).toString(),
    });
    expect(status, JSON.stringify(body)).toBe(200);
    return (body as { access_token: string }).access_token;
  })
  .extend('team', { scope: 'file' }, async ({ administrator }) => {
    const { id: approverId } = await administrator.me();
    return (await administrator.teams.create({ name: 'Field work', approverId, budget: 500_000 })).id;
  })
  .extend('filed', { scope: 'file' }, async ({ agentOf, eve, onBehalfOf, team }) => {
    const agent = await agentOf(await onBehalfOf(eve.token));
    const { item } = await agent.call('createClaim', { teamId: team, purpose: 'Strasbourg' });
    return { agent, id: item.id };
  });

describe('an agent on behalf of a user', () => {
  test('has the tools of its scopes alone', async ({ agentOf, eve, onBehalfOf, filed }) => {
    const all = (await filed.agent.tools()).map(({ name }) => name);
    expect(all).toEqual(expect.arrayContaining(['createClaim', 'listClaims']));
    const reader = await agentOf(await onBehalfOf(eve.token, 'read:claims'));
    const names = (await reader.tools()).map(({ name }) => name);
    expect(names).toContain('listClaims');
    expect(names).not.toContain('createClaim');
    await expect(reader.call('createClaim', {})).rejects.toThrow('no tool createClaim');
  });

  test('is in the history beside the user, on every surface', async ({
    ask,
    eve,
    filed,
    graphql,
    people,
  }) => {
    const both = { actor: `user:${eve.userId}`, client: THROUGH };
    const { body: history } = await ask('GET', `/claims/${filed.id}/history`, { token: eve.token });
    expect(history).toMatchObject([{ type: 'claim.drafted', ...both }]);
    const { data, errors } = await graphql<{ claim: { history: { nodes: object[] } } }>(
      `{ claim(id: "${filed.id}") { history { nodes { actor client } } } }`,
      { token: eve.token },
    );
    expect(errors).toBeUndefined();
    expect(data.claim.history.nodes).toEqual([both]);
    const { token } = people.administrator;
    const { body: found } = await ask(
      'GET',
      `/events?client=${encodeURIComponent(THROUGH)}&subject=claim-${filed.id}`,
      { token },
    );
    expect(found).toMatchObject([{ subject: `claim-${filed.id}`, ...both }]);
    const [{ id }] = found as readonly [{ readonly id: string }];
    const proof = await until(
      () => ask('GET', `/events/${id}/proof`, { token }),
      ({ status }) => status === 200,
    );
    const { proof: text } = proof.body as { readonly proof: string };
    const [, extra = ''] = /^extra (.*)$/m.exec(text) ?? [];
    expect(Buffer.from(extra, 'base64').toString()).toContain(THROUGH);
    const { body: exported } = await ask('GET', '/audit/export', { token });
    expect(String(exported)).toContain(THROUGH);
  });

  test('has keys of its own, and no other way in', async ({ agentOf, ask, eve, onBehalfOf, team }) => {
    const meta = { 'annals/idempotency-key': 'one-key' };
    const args = { teamId: team, purpose: 'Once' };
    const own = await (await agentOf(eve.token)).call('createClaim', args, meta);
    const token = await onBehalfOf(eve.token);
    const ofAgent = await (await agentOf(token)).call('createClaim', args, meta);
    expect(ofAgent.item.id).not.toBe(own.item.id);
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const made = await ask('POST', '/account/tokens', {
      token,
      body: { name: 'More', scopes: ['read:claims'], expiresAt },
    });
    expect(made).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
  });

  test('asks a person for a command with `confirm`, on every surface, and reads what became of it', async ({
    agentOf,
    ask,
    eve,
    graphql,
    installation,
    onBehalfOf,
    people,
    administrator,
    filed,
    team,
  }) => {
    const { id: claimId, agent: agentOfEve } = filed;
    await agentOfEve.call('addClaimItem', { claimId, spentOn: '2026-11-20', category: 'meals', amount: 900 });
    await agentOfEve.call('submitClaim', { claimId });
    const joined = await people.signUp('Abel');
    await administrator.users.edit(joined.userId, { role: 'approver' });
    const abel = await people.signIn(joined, 'approver' as never);
    await administrator.teams.edit(team, { approverId: abel.userId as never });
    const token = await onBehalfOf(abel.token);
    const agent = await agentOf(token);
    expect((await agent.tools()).map(({ name }) => name)).not.toContain('approveAgentRequest');

    const byRest = await ask('POST', `/claims/${claimId}/approve`, {
      token,
      headers: { 'idempotency-key': 'rest' },
    });
    expect(byRest).toMatchObject({ status: 202, body: { code: 'confirmation_required', status: 202 } });
    const { request, href } = (byRest.body as { details: { request: number; href: string } }).details;
    expect(byRest.headers.get('location')).toBe(href);
    expect(byRest.headers.get('content-type')).toContain('application/problem+json');
    const again = await ask('POST', `/claims/${claimId}/approve`, {
      token,
      headers: { 'idempotency-key': 'rest' },
    });
    expect(again.body).toMatchObject({ details: { request } });

    const byTool = await agent.call('approveClaim', { claimId });
    expect(byTool).toMatchObject({
      isError: false,
      code: 'confirmation_required',
      link: `${installation.url}/console/data/agent-requests/${(byTool as unknown as { request: number }).request}`,
      next: { outcome: { tool: 'getAgentRequest' } },
    });
    const mutation = await graphql(`mutation { approveClaim(id: "${claimId}") { id } }`, { token });
    expect(mutation.errors).toMatchObject([
      { extensions: { code: 'confirmation_required', details: { href: expect.any(String) } } },
    ]);
    const client = createClient<typeof expenses>({ url: installation.origin, token });
    await expect(client.claims.approve(claimId as never)).rejects.toMatchObject({
      code: 'confirmation_required',
    });

    const approval = `${href}/approve`;
    for (const by of [token, eve.token])
      expect((await ask('POST', approval, { token: by, body: {} })).status).toBeOneOf([403, 404]);
    expect((await ask('GET', approval, { token: abel.token })).status).toBe(405);
    await until(
      () => ask('GET', '/agent-requests?status=open', { token: abel.token }),
      ({ body }) => (body as readonly unknown[]).length === 4,
    );
    expect((await ask('GET', '/agent-requests', { token: eve.token })).body).toEqual([]);
    const approved = await ask('POST', approval, { token: abel.token, body: {} });
    expect(approved.status, JSON.stringify(approved.body)).toBe(200);
    const { item } = await until(
      () => agent.call('getAgentRequest', { agentRequestId: request }),
      (read) => read.item.status !== 'open',
    );
    expect(item).toMatchObject({ status: 'approved', result: `/claims/${claimId}` });
    const { body: history } = await ask('GET', `/claims/${claimId}/history`, { token: abel.token });
    const ofClaim = (history as readonly { readonly type: string }[]).find(
      ({ type }) => type === 'claim.approved',
    );
    expect(ofClaim).toMatchObject({ actor: `user:${abel.userId}`, client: THROUGH });
    const { body: decided } = await ask('GET', `${href}/history`, { token: abel.token });
    expect(decided).toMatchObject([
      { type: 'agentRequest.approved', actor: `user:${abel.userId}`, client: JOURNAL.clientId },
      { type: 'agentRequest.asked', client: THROUGH },
    ]);
  });

  test('ends with the access of the application, and with the account', async ({
    ask,
    onBehalfOf,
    people,
  }) => {
    const { token: by } = people.administrator;
    for (const [name, method, path] of [
      ['Ada', 'DELETE', `/applications/${JOURNAL.clientId}`],
      ['Bea', 'POST', '/deactivate'],
    ] as const) {
      const person = await people.signUp(name);
      const token = await onBehalfOf(person.token);
      expect((await ask('GET', '/claims', { token })).status).toBe(200);
      const ended = await ask(method, `/account/people/${person.userId}${path}`, { token: by });
      expect(ended.status, JSON.stringify(ended.body)).toBeLessThan(300);
      await until(
        () => ask('GET', '/claims', { token }),
        ({ status }) => status === 401,
      );
    }
  });

  test('ends with its own registration', async ({ ask, bot, onBehalfOf, people }) => {
    const person = await people.signUp('Cyd');
    const token = await onBehalfOf(person.token);
    await ask('DELETE', `/clients/${bot.clientId}`, {
      token: people.administrator.token,
      headers: { 'if-match': '*' },
    });
    await until(
      () => ask('GET', '/claims', { token }),
      ({ status }) => status === 401,
    );
    expect((await ask('GET', '/claims', { token: person.token })).status).toBe(200);
  });
});
