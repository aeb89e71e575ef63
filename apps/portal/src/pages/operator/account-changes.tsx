import { keyId, type AccountId } from '@gateway/core/accounts'
import { credits, minus, parseCredits, type Credits } from '@gateway/core/credits'
import { Notice } from '../../components.tsx'
import type { Fields, Problems } from '../../forms.ts'
import { amount } from '../../format.ts'
import type { GoTo, OperatorVisit, View } from '../../page.ts'

/** Result of a change that the page shows: a notice, or the errors of the form. */
export interface ChangeResult {
  readonly notice?: View['main']
  readonly problems?: Problems
  readonly fields?: Fields
}

/** Result of a change: content for the same page, a redirect to another page, or 'not-found'. */
type Done = ChangeResult | GoTo | 'not-found'

/** Changes that operators make to an account, by the `act` field of the form. */
export const accountChanges: Readonly<
  Record<string, (visit: OperatorVisit, id: AccountId, fields: Fields) => Promise<Done>>
> = {
  async lock({ backOffice }, id) {
    await backOffice.commands.lockAccount(id)
    return { notice: <Notice>The account is locked, and everybody who was signed in is signed out.</Notice> }
  },
  async 'act-as'({ backOffice, operator, session }, id) {
    const until = await backOffice.commands.actAs(id, operator.id, session.id)
    return until === undefined ? 'not-found' : { goTo: '/' }
  },
  async unlock({ backOffice }, id) {
    await backOffice.commands.unlockAccount(id)
    return { notice: <Notice>The account is unlocked.</Notice> }
  },
  async link({ backOffice }, id) {
    const offered = await backOffice.commands.offerSignInLink(id)
    if (offered === 'no-such-account') return 'not-found'
    if (offered === 'second-factor')
      return { notice: <Notice tone="bad">A sign-in link cannot be made for an account with a second factor.</Notice> }
    return {
      notice: (
        <Notice>
          This link signs in once, within an hour. It is shown only this once: <code>/link?token={offered.token}</code>
        </Notice>
      ),
    }
  },
  async 'top-up'({ backOffice }, id, fields) {
    const [amountToAdd, why] = [parseCredits(fields.trimmed('amount')), fields.trimmed('why')]
    if (amountToAdd === undefined || amountToAdd === 0)
      return { fields, problems: { amount: 'Enter how many credits, such as 500 or -12.5.' } }
    if (why === '') return { fields, problems: { why: 'Enter a reason.' } }
    const operation = fields.operation()
    if (operation === undefined) return 'not-found'
    const after = await backOffice.commands.topUp(id, amountToAdd, why, operation)
    if (after === 'repeated') return { notice: <Notice>The form was sent twice. The change was made once.</Notice> }
    if (after === 'no-such-account') return 'not-found'
    if (typeof after === 'string') return { fields, problems: { amount: OUT_OF_RANGE } }
    return { notice: <Notice>{toppedUp(amountToAdd, after)}</Notice> }
  },
  async price({ backOffice }, id, fields) {
    const [prefix, priceText] = [fields.trimmed('prefix'), fields.trimmed('price')]
    if (priceText === '') {
      if ((await backOffice.commands.removePrice(prefix, id)) === 'removed')
        return { notice: <Notice>The price is removed.</Notice> }
      return { fields, problems: { prefix: 'The account has no price for these numbers.' } }
    }
    const price = parseCredits(priceText)
    const set = price === undefined ? 'invalid-price' : await backOffice.commands.setPrice(prefix, price, id)
    if (set === 'no-such-account') return 'not-found'
    if (set === 'invalid-prefix')
      return { fields, problems: { prefix: 'Enter up to 15 digits, or leave the field empty.' } }
    if (set === 'invalid-price') return { fields, problems: { price: 'Enter credits from 0.0, such as 0.7.' } }
    return { notice: <Notice>The price is set. It applies everywhere within 5 seconds.</Notice> }
  },
  async limits({ backOffice }, id, fields) {
    const [requests, recipients] = [limitOf(fields.trimmed('requests')), limitOf(fields.trimmed('recipients'))]
    const wrong = 'Enter a whole number from 1 to 1000000, or leave the field empty.'
    const problems = {
      ...(requests === 'wrong' && { requests: wrong }),
      ...(recipients === 'wrong' && { recipients: wrong }),
    }
    if (requests === 'wrong' || recipients === 'wrong') return { fields, problems }
    const changed = await backOffice.commands.changeAccount(id, {
      requestsPerSecond: requests,
      recipientsPerSecond: recipients,
    })
    if (changed !== 'changed') return 'not-found'
    return { notice: <Notice>The limits are set. They apply everywhere within 5 seconds.</Notice> }
  },
  async 'issue-key'({ backOffice }, id, fields) {
    const label = fields.trimmed('label')
    if (label.length > 100) return { fields, problems: { label: 'A label has at most 100 characters.' } }
    const operation = fields.operation()
    const issued = operation && (await backOffice.commands.issueApiKey(id, { label, operation }))
    if (issued === 'repeated')
      return { notice: <Notice>The form was sent twice, and one key was issued. It is not shown again.</Notice> }
    if (issued === undefined || typeof issued === 'string') return 'not-found'
    return {
      notice: (
        <Notice>
          Key {issued.id} is <code>{issued.key}</code>. It is shown only this once.
        </Notice>
      ),
    }
  },
  async 'require-factor'({ backOffice }, id) {
    await backOffice.commands.requireAccountFactor(id, true)
    return {
      notice: <Notice>A second factor is required. Everybody who had signed in without one is signed out.</Notice>,
    }
  },
  async 'spare-factor'({ backOffice }, id) {
    await backOffice.commands.requireAccountFactor(id, false)
    return { notice: <Notice>A second factor is no longer required.</Notice> }
  },
  async 'reset-factor'({ backOffice }, id) {
    await backOffice.commands.resetAccountFactor(id)
    return { notice: <Notice>The second factor is removed. Signing in requires only the password.</Notice> }
  },
  'lock-user': (visit, id, fields) => changeUser(visit, id, fields, 'lockUser'),
  'unlock-user': (visit, id, fields) => changeUser(visit, id, fields, 'unlockUser'),
  async 'revoke-key'({ backOffice }, id, fields) {
    const key = keyId(Number(fields.text('key')))
    const isOwn = (await backOffice.queries.listApiKeys(id)).some((one) => one.id === key)
    if (key === undefined || !isOwn) return 'not-found'
    await backOffice.commands.revokeApiKey(key)
    return { notice: <Notice>Key {key} is revoked. Every process refuses it within 5 seconds.</Notice> }
  },
}

async function changeUser(
  { backOffice }: OperatorVisit,
  id: AccountId,
  fields: Fields,
  change: 'lockUser' | 'unlockUser',
): Promise<Done> {
  const user = (await backOffice.queries.listUsers(id)).find((one) => one.id === fields.number('user'))
  if (user === undefined) return 'not-found'
  await backOffice.commands[change](id, user.id)
  return { notice: <Notice>{user.email} was changed. The change applies at once.</Notice> }
}

/** Reads a limit. Returns null if the field is empty, which means no limit. */
function limitOf(text: string): number | null | 'wrong' {
  if (text === '') return null
  return /^[1-9][0-9]{0,5}$|^1000000$/.test(text) ? Number(text) : 'wrong'
}

const OUT_OF_RANGE = 'The balance would be negative, or larger than the maximum.'

const toppedUp = (amountToAdd: Credits, after: Credits): string =>
  amountToAdd > 0
    ? `${amount(amountToAdd)} credits were added. The account has ${amount(after)} now.`
    : `${amount(minus(credits(0), amountToAdd))} credits were taken. The account has ${amount(after)} now.`
