import { hideSecrets } from '@gateway/server/configuration'

/** What went wrong with the database at `url` (undefined: the embedded one), for the operator: a sentence without a secret. */
export function explain(given: unknown, url: string | undefined): string {
  const problem = given instanceof Error && given.message.startsWith(unreached) ? given.cause : given
  const text = hideSecrets(messageOf(problem)).trim()
  if (isLostAnswer(text))
    return `The database broke off before it answered: it may have done it or not. Look before you repeat it.`
  const code = codeOf(problem)
  if (code === undefined ? isBroken(text) : isAway(code))
    return `The database cannot be reached: ${text}. ${check(url)}`
  return code !== undefined && isSqlState(code) ? `The database refuses: ${text}.` : text
}

/** As the check of the server begins what it says of a failure to connect. */
const unreached = 'the database cannot be reached: '

const check = (url: string | undefined): string =>
  url === undefined
    ? 'Look into the log of the embedded PostgreSQL, in DATA_DIR/postgres.'
    : 'Check DATABASE_URL (its host, port, user, password and database), and whether the server runs.'

/** A name with several addresses fails once for each, and has no message of its own. */
const messageOf = (problem: unknown): string => {
  if (problem instanceof AggregateError && problem.message === '') return problem.errors.map(messageOf).join('; ')
  return problem instanceof Error ? problem.message : String(problem)
}

const codeOf = (problem: unknown): string | undefined =>
  problem instanceof Error && 'code' in problem && typeof problem.code === 'string' ? problem.code : undefined

const isSqlState = (code: string): boolean => /^(?=.*[0-9])[0-9A-Z]{5}$/.test(code)

/** Codes of the network and of TLS; of the server those for no connection, no access, no such database, no room, shut down. */
const isAway = (code: string): boolean => !isSqlState(code) || /^(08|28|3D|53|57P)/.test(code)

/** What the driver says without a code. */
const isBroken = (text: string): boolean => /^Connection terminated|timeout|SASL|SSL/i.test(text)

const isLostAnswer = (text: string): boolean => text.startsWith('the answer of the database was lost')
