import type { Router } from 'express';
import type { Asked } from './interaction.ts';
import type { ShowAgain } from './passkey-sign-in.ts';
import type { SecondStepDependencies } from './second-step.ts';
import type { SignInLimits } from './sign-in-limits.ts';

/** An identity provider on the sign-in page. */
export type Offer = { readonly label: string; readonly url: string };

/** Sign-in with accounts at identity providers, which is loaded only if the settings have some. */
export type SignInElsewhere = {
  offersFor(asked: Asked): readonly Offer[];
  signInRoutes(
    dependencies: SecondStepDependencies & { readonly limits: SignInLimits },
    showAgain: ShowAgain,
  ): Router;
};
