import { notAvailable } from '../answer.ts'
import { get, nothing } from '../endpoint.ts'

/** The sub accounts of a main account (ruling 2.14). */
export const subAccounts = get(nothing, () => notAvailable('The list of sub accounts'))
