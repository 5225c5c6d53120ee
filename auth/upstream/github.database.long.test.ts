import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { titleOf } from '../../test/engines/account-visit.ts';
import { type AccountsSite, openAccountsSite } from '../../test/engines/accounts-site.ts';
import { type GitHubStandIn, startGitHubStandIn } from '../../test/engines/github-stand-in.ts';
import { openOwnAccount, signInToAccount, somebodyAt } from '../../test/engines/own-account.ts';
import { beginLink, hop, signInBy } from '../../test/engines/upstream-visit.ts';

let gitHub: GitHubStandIn;
let site: AccountsSite;

beforeAll(async () => {
  gitHub = await startGitHubStandIn({ clientId: 'Iv1.annals', clientSecret: 'a secret of GitHub' });
  site = await openAccountsSite({
    trustProxy: 1,
    upstreams: [
      {
        kind: 'github',
        name: 'github',
        label: 'GitHub',
        issuer: gitHub.url,
        api: `${gitHub.url}/api/v3`,
        clientId: 'Iv1.annals',
        clientSecret: 'a secret of GitHub',
        email: 'verified',
        linkByEmail: false,
        accounts: [{ role: 'author', domains: ['staff.example'] }],
      },
    ],
  });
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await gitHub[Symbol.asyncDispose]();
});

const octocat = (email: string, isVerified = true) => {
  const id = randomInt(1, 2 ** 40);
  gitHub.user = {
    profile: { id, login: 'octocat', name: null },
    emails: [
      { email: 'other@staff.example', primary: false, verified: true, visibility: null },
      { email, primary: true, verified: isVerified, visibility: 'public' },
    ],
  };
  return id;
};

test('an account is created for the verified primary address, by a rule', async () => {
  octocat('octo@staff.example');
  const { end } = await signInBy(site, 'GitHub');
  expect([titleOf(end), end.body.includes('octo@staff.example')]).toEqual(['Your account', true]);
  octocat('unverified@staff.example', false);
  expect((await signInBy(site, 'GitHub')).end.status).toBe(403);
});

test('a linked account signs in, but shows no recent sign-in', async () => {
  octocat('octo@example.org');
  const account = await signInToAccount(site, await somebodyAt(site));
  const linked = await hop(account.browser, await beginLink(account, 'github'));
  expect(linked.body).toContain('The account is linked.');
  const { browser, end } = await signInBy(site, 'GitHub');
  expect(titleOf(end)).toBe('Your account');
  const asked = await openOwnAccount(site, browser).get('/account/passkeys');
  expect([titleOf(asked), asked.body.includes('Sign in with GitHub')]).toEqual(['Sign in', false]);
});

test('a refusal of the code, which GitHub states with status 200, is a sentence', async () => {
  octocat('octo@example.org');
  gitHub.refusesCodes = true;
  const { end } = await signInBy(site, 'GitHub');
  gitHub.refusesCodes = false;
  expect([end.status, end.body.includes('could not be verified')]).toEqual([422, true]);
});
