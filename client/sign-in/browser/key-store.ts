import { shareCall } from '../../wait.ts';
import { type KeyPair, newKeyPair } from '../dpop.ts';
import type { Page } from './page.ts';
import { changeRecord } from './shared-record.ts';

/**
 * The key pair of a client in this browser, the same for all its tabs. IndexedDB keeps it without its private
 * part ever being readable, so that a script that has crept in can use it while the page is open, and cannot
 * take it away.
 */
export const keyPairOf = (page: Pick<Page, 'indexedDB'>, name: string): (() => Promise<KeyPair>) =>
  shareCall(async () => {
    // A transaction does not wait for it.
    const made = await newKeyPair();
    return (await changeRecord<KeyPair>(page, `${name} key`, (known) => known ?? made)) ?? made;
  });
