import { expect, test } from 'vitest';
import { redirectUri } from './redirect-uri.ts';

test.each([
  'http://app.example/callback',
  'http://127.0.0.2/callback',
  'http://localhost.evil.example/callback',
  'http://10.0.0.1/callback',
  'https://app.example/callback#fragment',
  'https://app.example/callback#',
  'https://app.example/*',
  'https://*.app.example/callback',
  'https://ada:secret@app.example/callback',
  'https://ada@app.example/callback',
  'https://app.example@evil.example/',
  'https://app.example\\@evil.example/',
  'https://APP.example/callback',
  'https://app.example:443/callback',
  'https://app.example/a/../callback',
  'https://app.example/call back',
  'https://app.example/callback\n',
  'https://äpp.example/callback',
  'https:/app.example/callback',
  '//app.example/callback',
  '/callback',
  'callback',
  '',
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'myapp://callback',
  'myapp:/callback',
  'com.example.app:/callback#x',
  'COM.example.app:/callback',
  'urn:ietf:wg:oauth:2.0:oob',
  `https://app.example/${'x'.repeat(2_048)}`,
])('%j is refused', (uri) => {
  expect(redirectUri.safeParse(uri).success).toBe(false);
});

test.each([
  'https://app.example/callback',
  'https://app.example',
  'https://app.example/',
  'https://app.example:8443/callback?from=annals&x=%20',
  'http://localhost:3000/callback',
  'http://127.0.0.1/callback',
  'http://[::1]:8080/callback',
  'com.example.app:/oauth/callback',
  'com.example.app://callback',
])('%j is taken as it is', (uri) => {
  expect(redirectUri.parse(uri)).toBe(uri);
});
