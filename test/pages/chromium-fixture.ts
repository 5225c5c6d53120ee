import { expect } from 'vitest';
import type { TokenHolder } from '../../testing/http/people.ts';
import { openChromium } from '../engines/chromium.ts';
import { test as base } from '../engines/installation-fixture.ts';

/** An installation for each file, and a browser for its pages. */
export const test = base
  .extend('chromium', { scope: 'file' }, ({ installation: _shown }, { onCleanup }) => openChromium(onCleanup))
  /** Sends a POST request that must create an item, and returns its id. */
  .extend('create', { scope: 'file' }, ({ ask }) => async (path: string, by: TokenHolder, body: object) => {
    const created = await ask('POST', path, { token: by.token, body });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    return (created.body as { id: number }).id;
  });
