import * as z from 'zod';
import { FORMATS } from '#shared/person-export/write.ts';
import { fieldsOf } from '../accounts/form.ts';
import { waitSeconds, waitText } from '../accounts/sign-in-limits.ts';
import { PATHS } from '../pages/account/account-page.ts';
import { type DataPageView, dataPage } from '../pages/account/data-page.ts';
import { answerPage } from '../pages/answer-page.ts';
import { PASSWORD_MAX } from '../pages/parts/person-fields.ts';
import { confirmPassword, hasPassword } from './confirm-password.ts';
import type { OwnAccountDependencies } from './dependencies.ts';
import { type AccountPage, viewOf } from './pages.ts';
import { securityContextOf, type Visitor } from './visitor.ts';

type Dependencies = Pick<
  OwnAccountDependencies,
  'tokens' | 'credentials' | 'limits' | 'devices' | 'emailHash' | 'readProfile' | 'record' | 'exports'
>;

const Form = z.object({ format: z.enum(FORMATS), password: z.string().max(PASSWORD_MAX) });

/** Lets a person take everything that is stored about them. The answer to the form is the file. */
export const data = (dependencies: Dependencies): AccountPage => ({
  path: PATHS.data,
  isSensitive: true,
  demandsPassword: true,
  show: (visitor) => answer(dependencies, visitor, { problems: {} }),
  async submit(visitor) {
    const { format, password } = fieldsOf(Form, visitor.request);
    const unconfirmed = await confirmPassword(dependencies, visitor, password);
    if (unconfirmed !== undefined)
      return answer(dependencies, visitor, {
        problems: { password: unconfirmed.text },
        status: unconfirmed.status,
      });
    const { userId, response } = visitor;
    const by = securityContextOf(visitor);
    const outcome = await dependencies.exports.send({ userId, format, by, response });
    if (outcome.isDone) return;
    response.set('Retry-After', String(waitSeconds(outcome.waitMs)));
    const form = `Too many exports at the moment. Try again in ${waitText(outcome.waitMs)}.`;
    return answer(dependencies, visitor, { problems: { form }, status: 429 });
  },
});

const answer = async (
  dependencies: Dependencies,
  visitor: Visitor,
  filled: Pick<DataPageView, 'problems' | 'status'>,
): Promise<void> => {
  const view = { ...viewOf(dependencies, visitor), ...filled };
  answerPage(
    visitor.response,
    dataPage({ ...view, hasPassword: await hasPassword(dependencies, visitor.userId) }),
  );
};
