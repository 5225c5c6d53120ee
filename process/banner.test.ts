import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { banner, inSecondTerminal } from './banner.ts';

const shown = {
  url: 'http://localhost:4000',
  links: [{ rel: 'docs', href: '/docs', title: 'The interface, for people' }],
  firstMinute: {
    client: { clientId: 'development-admin', secret: 's' },
    author: { email: 'demo@example.com', password: 'p' },
  },
  demo: undefined,
  scopes: 'read:articles',
  offersDemo: true,
};

test.each([
  ['.data', ''],
  ['.data/demo', 'DATA_DIR=.data/demo '],
  ['/var/lib/annals', 'DATA_DIR=/var/lib/annals '],
  ["/my data/it's", `DATA_DIR='/my data/it'\\''s' `],
  [join('..', 'beside'), `DATA_DIR=${resolve('../beside')} `],
])('the commands of an installation in %s reach it from a second terminal', (dataDir, prefix) => {
  expect(inSecondTerminal(resolve(dataDir), 'npm run annals -- help')).toBe(
    `${prefix}npm run annals -- help`,
  );
  const printed = banner({ ...shown, dataDir: resolve(dataDir) });
  expect(printed).toContain(`\n    ${prefix}npm run annals -- help `.trimEnd());
  expect(printed).toContain(`\n    ${prefix}npm run -s token -- --scope 'read:articles'\n`);
});

test('each address and command has its explanation in one column', () => {
  const printed = banner({ ...shown, dataDir: resolve('.data') });
  expect(printed).toContain('\n    http://localhost:4000/docs        the documentation');
  expect(printed).not.toContain('/graphql');
  expect(printed).toContain('\n    npm run annals -- help            the command line\n');
  expect(printed).toContain("'read:articles'\n                                      an access token");
});
