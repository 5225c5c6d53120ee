import { shareCall } from '../../wait.ts';
import { type KeyPair, newKeyPair } from '../dpop.ts';
import type { Page } from './page.ts';
import { changeRecord } from './shared-record.ts';

/**
 * The key pair of a client in this browser, shared by its tabs. IndexedDB stores it with an unreadable
 * private key, so that an injected script can use it while the page is open, but cannot steal it.
 */
export const keyPairOf = (page: Pick<Page, 'indexedDB'>, name: string): (() => Promise<KeyPair>) =>
  shareCall(async () => {
    // Before the transaction, which would not wait for it.
    const made = await newKeyPair();
    return (await changeRecord<KeyPair>(page, `${name} key`, (known) => known ?? made)) ?? made;
  });
