import { describe, expect } from 'vitest';
import { type Answer, test } from '../engines/agent-fixture.ts';

// The tests depend on each other.
let team: number;
let claim: Answer;

describe('an agent of a user', () => {
  test('finds the tools that the user may use, with schemas', async ({
    agent,
    administrator,
    agentOf,
    people,
  }) => {
    const tools = await agent.tools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['createClaim', 'submitClaim', 'listClaims', 'getMe', 'listEvents']),
    );
    expect(names.filter((name) => /Order|^put|^replace|Receipt$|Client/.test(name))).toEqual([]);
    expect(tools.find(({ name }) => name === 'createClaim')).toEqual({
      name: 'createClaim',
      title: 'Draft a claim',
      description: expect.stringMatching(/^Draft a claim\. .*A claim can be at most 20,000\.00\./),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
      inputSchema: {
        type: 'object',
        properties: expect.objectContaining({ teamId: expect.anything(), purpose: expect.anything() }),
        required: expect.arrayContaining(['teamId', 'purpose']),
        additionalProperties: false,
      },
    });
    expect(names.filter((name) => ['createTeam', 'payClaim', 'getSpending'].includes(name))).toEqual([]);
    const ofAdministrator = await (await agentOf(people.administrator.token)).tools();
    expect(ofAdministrator.map(({ name }) => name)).toContain('createTeam');
    const { id: approverId } = await administrator.me();
    ({ id: team } = await administrator.teams.create({ name: 'Field work', approverId, budget: 500_000 }));
  });

  test('files an expense, and learns its next steps', async ({ agent }) => {
    claim = await agent.call('createClaim', { teamId: team, purpose: 'Strasbourg' });
    expect(claim).toMatchObject({
      isError: false,
      item: {
        purpose: 'Strasbourg',
        status: 'draft',
        total: 0,
      },
      etag: expect.any(String),
    });
    expect(Object.values(claim.next)).toContainEqual({
      tool: 'addClaimItem',
      arguments: { claimId: claim.item.id },
    });
    const added = await agent.call('addClaimItem', {
      claimId: claim.item.id,
      ...{ spentOn: '2026-11-20', category: 'travel', amount: 42_000 },
    });
    expect(added).toMatchObject({ isError: false });
    expect(await agent.call('submitClaim', { claimId: claim.item.id })).toMatchObject({
      item: { status: 'submitted', total: 42_000 },
    });
  });

  test('is refused in words, and changes nothing by a refused call', async ({ agent }) => {
    expect(await agent.call('editClaim', { claimId: claim.item.id, purpose: 'Metz' })).toMatchObject({
      isError: true,
      code: 'claim_not_open',
      title: 'The claim was submitted and cannot be changed.',
    });
    expect(await agent.call('createClaim', { teamId: team })).toMatchObject({
      isError: true,
      errors: [{ pointer: '/purpose' }],
    });
    expect(await agent.call('getClaim', { claimId: 1 })).toMatchObject({
      isError: true,
      code: 'claim_not_found',
    });
    expect(await agent.call('getClaim', { claimId: '../teams' })).toMatchObject({ isError: true });
    for (const args of [{}, { claimId: '' }, { claimId: '\ud800' }, { claimId: null }])
      expect(await agent.call('getClaim', args)).toMatchObject({
        isError: true,
        errors: [{ pointer: '/claimId' }],
      });
    expect(await agent.call('listClaims', { after: 'x'.repeat(100_000) })).toMatchObject({
      isError: true,
      status: 431,
      title: expect.any(String),
    });
    expect(await agent.call('listClaims', { nonsense: 1 })).toMatchObject({ isError: true });
    await expect(agent.call('payClaim', { claimId: claim.item.id })).rejects.toThrow('no tool payClaim');
    await expect(agent.call('approveClaim', { claimId: claim.item.id })).rejects.toThrow(
      'no tool approveClaim',
    );
  });

  test('changes nothing that has changed since it was read', async ({ agent }) => {
    const draft = await agent.call('createClaim', { teamId: team, purpose: 'Trier' });
    const { id: claimId } = draft.item;
    expect(await agent.call('editClaim', { claimId, purpose: 'Metz', etag: draft.etag })).toMatchObject({
      item: { purpose: 'Metz' },
    });
    expect(await agent.call('editClaim', { claimId, purpose: 'Nancy', etag: draft.etag })).toMatchObject({
      isError: true,
      code: 'version_mismatch',
    });
    for (const etag of [5, null, '', 'a\r\nb', '\u2713'])
      expect(await agent.call('editClaim', { claimId, purpose: 'Nancy', etag })).toMatchObject({
        isError: true,
        errors: [{ pointer: '/etag' }],
      });
    const meta = { 'annals/idempotency-key': 'a\nb', traceparent: 'x\ny' };
    expect(await agent.call('editClaim', { claimId, purpose: 'Nancy' }, meta)).toMatchObject({
      isError: true,
      code: 'invalid_request',
    });
    expect(await agent.call('getClaim', { claimId }, { traceparent: 'x\ny' })).toMatchObject({
      item: { purpose: 'Metz' },
    });
    expect(await agent.call('deleteClaim', { claimId })).toMatchObject({ isError: false });
  });

  test('runs a repeated call once, by its key', async ({ agent }) => {
    const args = { teamId: team, purpose: 'Once' };
    const meta = { 'annals/idempotency-key': 'one-call' };
    const first = await agent.call('createClaim', args, meta);
    const again = await agent.call('createClaim', args, meta);
    expect(again.item.id).toBe(first.item.id);
  });

  test('reads lists by the page', async ({ agent }) => {
    const first = await agent.call('listClaims', { limit: 1 });
    expect(first.items).toHaveLength(1);
    const second = await agent.call('listClaims', { limit: 1, ...first.more });
    expect(second.items[0]?.item.id).not.toBe(first.items[0]?.item.id);
    expect(first.items[0]).toHaveProperty('next');
  });

  test('reads items as resources too', async ({ agent, installation }) => {
    const { resourceTemplates } = await agent.client.listResourceTemplates();
    const ofClaims = resourceTemplates.find(({ name }) => name === 'getClaim');
    expect(ofClaims).toMatchObject({ uriTemplate: `${installation.url}/claims/{claimId}` });
    const uri = `${installation.url}/claims/${claim.item.id}`;
    const { contents } = await agent.client.readResource({ uri });
    expect(contents).toEqual([{ uri, mimeType: 'application/json', text: expect.any(String) }]);
    expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({ item: { id: claim.item.id } });
    for (const absent of [
      `${installation.url}/claims/1`,
      `${installation.url}/nothing`,
      `${installation.url}/claims/%`,
      'https://elsewhere/claims/1',
    ])
      await expect(agent.client.readResource({ uri: absent })).rejects.toThrow();
  });

  test('leaves a trail: who, through which client, by which request', async ({ agent, eve }) => {
    const { items } = await agent.call('listClaimHistory', { claimId: claim.item.id });
    expect(items[0]?.item).toMatchObject({
      type: 'claim.submitted',
      actor: `user:${eve.userId}`,
      client: expect.any(String),
      request: expect.any(String),
    });
  });
});

describe('an agent of an approver', () => {
  test('asks to approve the claims of others, and its own never', async ({
    agentOf,
    people,
    administrator,
  }) => {
    const abel = await people.signUp('Abel');
    await administrator.users.edit(abel.userId, { role: 'approver' });
    const agent = await agentOf((await people.signIn(abel, 'approver' as never)).token);
    await administrator.teams.edit(team, { approverId: abel.userId as never });
    const own = await agent.call('createClaim', { teamId: team, purpose: 'Own' });
    const { id: claimId } = own.item;
    await agent.call('addClaimItem', { claimId, spentOn: '2026-11-20', category: 'meals', amount: 900 });
    await agent.call('submitClaim', { claimId });
    const refused = await agent.call('approveClaim', { claimId });
    expect(refused).toMatchObject({ isError: true, code: 'forbidden' });
    const read = await agent.call('getClaim', { claimId: claim.item.id });
    expect(Object.values(read.next).map(({ tool }) => tool)).toContain('approveClaim');
    const asked = await agent.call('approveClaim', { claimId: claim.item.id });
    expect(asked).toMatchObject({ isError: false, code: 'confirmation_required' });
    const still = await agent.call('getClaim', { claimId: claim.item.id });
    expect(still.item).toMatchObject({ status: 'submitted' });
  });
});
