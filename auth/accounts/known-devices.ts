import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import type { UserId } from '#kernel/base/brands.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';

/**
 * Browsers in which the owner of an account has signed in before (OWASP, “Device cookies”). Their attempts
 * are counted separately, so that an attacker elsewhere cannot lock the owner out. The cookie alone signs
 * nobody in.
 */
export type KnownDevices = {
  /** The name of the browser, if this person has signed in with it. */
  of(request: Request, userId: UserId | undefined): string | undefined;
  remember(exchange: { readonly request: Request; readonly response: Response }, userId: UserId): void;
};

const NAME_BYTES = 16;
const PERSONS_MAX = 5;
const KEPT_MS = 400 * 86_400_000;
const VALUE = /^[\w-]{22}(?:\.[\w-]{22}){1,5}$/;

export const createKnownDevices = ({
  masterKey,
  issuerUrl,
}: {
  masterKey: MasterKey;
  issuerUrl: string;
}): KnownDevices => {
  const key = deriveKey(masterKey, 'known-device');
  const isSecure = new URL(issuerUrl).protocol === 'https:';
  // Over http, on localhost, browsers would refuse the prefix.
  const cookieName = isSecure ? '__Host-annals_device' : 'annals_device';
  const markOf = (device: string, userId: number): string =>
    createHmac('sha256', key)
      .update(`${device} ${userId}`)
      .digest()
      .subarray(0, NAME_BYTES)
      .toString('base64url');
  const read = (request: Request): readonly string[] => {
    const pairs = (request.get('Cookie') ?? '').split(';').map((pair) => pair.trim());
    const value = pairs.find((pair) => pair.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1) ?? '';
    return VALUE.test(value) ? value.split('.') : [];
  };
  return {
    of(request, userId = NOBODY) {
      const [device, ...marks] = read(request);
      if (device === undefined) return undefined;
      const expected = markOf(device, userId);
      return marks.some((mark) => isSame(mark, expected)) && userId !== NOBODY ? device : undefined;
    },
    remember({ request, response }, userId) {
      const [device = randomBytes(NAME_BYTES).toString('base64url'), ...marks] = read(request);
      const mark = markOf(device, userId);
      const kept = [mark, ...marks.filter((other) => other !== mark)].slice(0, PERSONS_MAX);
      const options = {
        httpOnly: true,
        sameSite: 'lax',
        secure: isSecure,
        path: '/',
        maxAge: KEPT_MS,
      } as const;
      response.cookie(cookieName, [device, ...kept].join('.'), options);
    },
  };
};

/** No user has this id, so an unknown person takes as long. */
const NOBODY = 0 as UserId;

const isSame = (one: string, other: string): boolean => timingSafeEqual(Buffer.from(one), Buffer.from(other));
