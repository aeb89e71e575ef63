import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Claims of the provider about a person. */
export type Claims = Readonly<Record<string, string | boolean>>

export interface LocalProvider {
  readonly issuer: string
  /** If true, the provider signs its ID tokens with invalid signatures. */
  isForged: boolean
  /** Claims of the person who signs in at every visit. If undefined, the person cancels the sign-in. */
  person: Claims | undefined
  /** Follows redirects like a browser until the provider redirects to the portal. Returns that URL of the portal. */
  visit(address: string): Promise<URL>
  close(): Promise<void>
}

export const client = { clientId: 'gateway', clientSecret: 'the secret of a local provider' }

/** Starts a real OpenID provider on loopback. It asks for no password and accepts any redirect address on loopback. */
export async function startProvider(redirects: () => readonly string[]): Promise<LocalProvider> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  // Silence the long notices that the provider is for development only.
  Object.assign(console, { info: () => undefined, warn: () => undefined })
  const { Provider } = await import('oidc-provider')
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: client.clientId, client_secret: client.clientSecret },
        ...{ redirect_uris: ['http://127.0.0.1/operator/sign-in/answer'], grant_types: ['authorization_code'] },
      },
    ],
    claims: { email: ['email', 'email_verified'], profile: ['preferred_username', 'name'] },
    findAccount: (_context, accountId) => ({
      accountId,
      claims: () => Promise.resolve({ sub: accountId, ...local.person }),
    }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    loadExistingGrant: async (context) => {
      const grant = new provider.Grant({ clientId: client.clientId, accountId: context.oidc.session?.accountId ?? '' })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
    cookies: { keys: ['of the test'] },
  })
  // Test portals listen on arbitrary ports.
  provider.Client.prototype.redirectUriAllowed = (uri: string) => redirects().includes(uri)
  const answer = provider.callback()
  server.on('request', (request, response) => {
    if (local.isForged && request.url === '/token') forge(response)
    if (request.url?.startsWith('/interaction/') !== true) return void answer(request, response)
    const { person } = local
    const result =
      person === undefined ? { error: 'access_denied' } : { login: { accountId: String(person['sub'] ?? 'ann') } }
    void provider.interactionFinished(request, response, result)
  })
  const local: LocalProvider = {
    issuer,
    person: undefined,
    isForged: false,
    async visit(address) {
      const cookies = new Map<string, string>()
      for (let next = new URL(address); ;) {
        if (next.origin !== issuer) return next
        const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
        const answered = await fetch(next, { redirect: 'manual', headers: { cookie } })
        for (const set of answered.headers.getSetCookie()) {
          const [name = '', value = ''] = set.split(';')[0]?.split('=') ?? []
          cookies.set(name, value)
        }
        const to = answered.headers.get('location')
        if (to === null) throw new Error(`${answered.status} at ${next.href}: ${await answered.text()}`)
        next = new URL(to, next)
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return local
}

/** Changes one letter of the signature of the ID token. */
function forge(response: ServerResponse): void {
  const end = response.end.bind(response) as (body: string) => ServerResponse
  const changed = (_all: string, before: string, letter: string) => before + (letter === 'A' ? 'B' : 'A')
  response.end = ((body: unknown) =>
    end(String(body).replace(/("id_token":"[\w-]+\.[\w-]+\.)(.)/, changed))) as ServerResponse['end']
}
