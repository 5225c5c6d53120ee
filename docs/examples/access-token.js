/**
 * An access token for a program (OAuth 2.1, client credentials). It lives five minutes, so each connection
 * requests its own.
 */
export const accessToken = async () => {
  const response = await fetch(`${ANNALS_URL}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${process.env.CLIENT_ID}:${process.env.CLIENT_SECRET}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  if (!response.ok) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return (await response.json()).access_token;
};

export const ANNALS_URL = process.env.ANNALS_URL ?? 'http://localhost:4000';
