import { expect } from 'vitest';
import { CALLBACK, ISSUER } from '../engines/auth-database.ts';
import { test } from '../engines/auth-fixture.ts';
import { openBrowser, signInAndAllow } from '../engines/browser.ts';
import { authorizeUrl, newVerifier } from '../engines/oauth.ts';

// Own server: sign-in needs the authorization server alone.

test('the answer to an application names the issuer, with a code as with an error (RFC 9207)', async ({
  auth,
  person,
  web,
}) => {
  const asked = {
    client_id: web.clientId,
    redirect_uri: CALLBACK,
    code_challenge: newVerifier().challenge,
    state: 'the state',
  };
  const refused = await auth.fetch(authorizeUrl({ ...asked, prompt: 'none' }));
  const { searchParams: ofError } = new URL(String(refused.headers.get('location')));
  expect(Object.fromEntries(ofError)).toMatchObject({
    error: 'login_required',
    iss: ISSUER,
    state: 'the state',
  });
  const { url } = await signInAndAllow(openBrowser(auth), authorizeUrl(asked), person);
  expect(Object.fromEntries(url.searchParams)).toEqual({
    code: expect.any(String),
    iss: ISSUER,
    state: 'the state',
  });
});
