import type { Credentials } from '@gateway/core'
import { trimWhiteSpace } from '@gateway/wire'
import type { Parameters } from './parameters.ts'

/**
 * The credentials of a request: a key, a user with a password, or both, without white space around them. A blank one, or one
 * with U+0000 in it, counts as not given (ruling 3.1). Undefined: none are given, or one is given twice (ruling 3.3).
 */
export function credentialsOf(parameters: Parameters): Pick<Credentials, 'apiKey' | 'pair'> | undefined {
  const apiKey = given(parameters, 'apikey')
  const user = given(parameters, 'user')
  const password = given(parameters, 'password')
  if (apiKey.length > 1 || user.length > 1 || password.length > 1) return undefined
  const pair = pairOf(user[0], password[0])
  return apiKey[0] === undefined && pair === undefined ? undefined : { apiKey: apiKey[0], pair }
}

const given = (parameters: Parameters, name: string): readonly string[] =>
  (parameters.get(name) ?? []).filter((value) => value.trim() !== '' && !value.includes('\0')).map(trimWhiteSpace)

const pairOf = (user: string | undefined, password: string | undefined): Credentials['pair'] =>
  user === undefined || password === undefined ? undefined : { user, password }
