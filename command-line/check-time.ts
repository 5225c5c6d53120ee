import { X509Certificate } from 'node:crypto';
import { checkTimeStamp } from '../proof/time/check-time-stamp.ts';
import type { Verdict } from '../proof/tree/check-file.ts';
import { UsageError } from './arguments/usage-error.ts';

type Stamped = { readonly at: string; readonly by: string };

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a file in PEM. */
export const certificatesOf = (path: string, text: string): readonly X509Certificate[] => {
  try {
    const certificates = (text.match(PEM) ?? []).map((each) => new X509Certificate(each));
    if (certificates.length > 0) return certificates;
  } catch {
    // One of them is none, as below.
  }
  throw new UsageError(`${path} has no certificate in PEM`);
};

/** The same with the time stamp of the file; not proven if that is missing or wrong. */
export const withStamp = (verdict: Verdict, trusted: readonly X509Certificate[]): Verdict => {
  const stamped = stampOf(verdict.file, trusted);
  if (typeof stamped === 'string')
    return { ...verdict, isProven: false, sentence: stamped, json: { isProven: false, reason: stamped } };
  const { at, by } = stamped;
  return {
    ...verdict,
    details: [...verdict.details, `Stamped at ${at} by ${by}: the log had this event at the latest then.`],
    json: { ...verdict.json, stamped },
  };
};

/** A sentence if it is missing or wrong. */
const stampOf = (file: Verdict['file'], trusted: readonly X509Certificate[]): Stamped | string => {
  if (file?.timestamp === undefined)
    return 'The proof has no time stamp: fetch it with `events proof --timestamp`.';
  const checked = checkTimeStamp(file.timestamp, Buffer.from(file.note), trusted);
  return typeof checked === 'string' ? checked : { at: checked.at.toISOString(), by: checked.by };
};
