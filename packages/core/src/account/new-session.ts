import type { Ports } from '../ports.ts'
import type { NewSession, SessionId } from './sessions.ts'

/** What a browser keeps of its session; stored nowhere. */
export interface OpenedSession {
  readonly id: SessionId
  readonly token: string
}

export type Browser = Pick<NewSession, 'agent' | 'address'>

const agentCharactersMax = 200

/** A new token for each session: what a browser brought along before it signed in is worth nothing. */
export function newSession(
  { secrets }: Pick<Ports, 'secrets'>,
  { agent, address }: Browser,
  secondFactor: boolean,
): NewSession & { readonly token: string } {
  const token = secrets.newToken()
  return { token, hash: secrets.hashKey(token), agent: agent.slice(0, agentCharactersMax), address, secondFactor }
}
