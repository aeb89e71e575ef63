import { providerConnections } from '@gateway/carriers'
import {
  createBackOffice,
  createGateway,
  type BackOffice,
  type Gateway,
  type Ports,
  holderAccess,
  operatorAccess,
} from '@gateway/core'
import type { Account } from '@gateway/core/accounts'
import type { OperatorRole, UserRole } from '@gateway/core/people'
import {
  anAccount,
  memoryPorts,
  memoryStore,
  memoryStoredPorts,
  steppingClock,
  type AccountOptions,
  type MemoryStore,
  type SteppingClock,
} from '@gateway/core/testing'
import { admissionGate, createLog, listen, type AdmissionGate, type Log, type OidcSettings } from '@gateway/server'
import { parse, type HTMLElement } from 'node-html-parser'
import request, { type Response } from 'supertest'
import { createPortalServer } from '../src/index.ts'

const silent = createLog({ level: 'silent', name: 'portal' })
export const password = 'correct horse'

/** Response of the portal with its HTML parsed. */
export interface Shown {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Target of the redirect, if the response is one. */
  readonly to: string | undefined
  readonly html: HTMLElement
  /** Text of the `main` element with whitespace collapsed. */
  readonly text: string
}

/** Browser with one cookie. */
export interface Visitor {
  cookie: string | undefined
  get(path: string): Promise<Shown>
  /**
   * Submits a form of this page. Values of `fill` replace those of the form. `button` is the value of the pressed
   * button if the button has a name.
   */
  submit(
    page: string | Shown,
    fill?: Readonly<Record<string, string | readonly string[]>>,
    form?: string,
  ): Promise<Shown>
  /** Submits a form of this page with a file, as a browser does. */
  upload(page: string, fill: Readonly<Record<string, string>>, file: string | Buffer): Promise<Shown>
  /** Sends a POST request with these fields and, by default, the headers of a form of this host. */
  post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Shown>
}

export interface Portal {
  readonly url: string
  readonly ports: Ports
  /** Memory store behind `ports`. */
  readonly store: MemoryStore
  readonly clock: SteppingClock
  readonly gateway: Gateway
  readonly backOffice: BackOffice
  readonly account: Account
  visitor(): Visitor
  /** Returns a visitor who is signed in, by default with the account of the portal. */
  signedIn(account?: Account): Promise<Visitor>
  /** Returns a signed-in visitor: a new user with this role, by default of the portal's account. */
  signedInAs(role: UserRole, account?: Account): Promise<Visitor>
  /** Returns a signed-in visitor: a new operator with this role. */
  operator(role?: OperatorRole): Promise<Visitor>
  close(): Promise<void>
}

export const sameOrigin = { 'Sec-Fetch-Site': 'same-origin' }

/**
 * Starts the portal on memory ports behind a real HTTP server on loopback. The clock stands at 2026-10-18 10:00 in
 * gateway time.
 */
export async function startPortal(
  options: AccountOptions = {},
  log: Log = silent,
  gate: AdmissionGate = admissionGate(100),
  oidc?: OidcSettings,
  wrap: (ports: Ports) => Ports = (ports) => ports,
): Promise<Portal> {
  const clock = steppingClock()
  const store = memoryStore(clock)
  const inMemory = { ...memoryPorts({ clock }), ...memoryStoredPorts(store) }
  const connections = providerConnections(inMemory, { variables: {}, isKeyShared: true })
  const ports = wrap({ ...inMemory, providerConnections: connections })
  const gateway = createGateway(ports)
  const account = await aHolder(ports, options)
  const app = createPortalServer(gateway, {
    ...{ clock, holders: holderAccess(ports, gateway), operators: operatorAccess(ports) },
    ...{ log, gate, oidc },
  })
  const server = await listen({ app, host: '127.0.0.1', port: 0, log: silent, graceSeconds: 1 })
  const visitor = () => visit(server.url)
  const backOffice = createBackOffice(ports)
  let people = 0
  return {
    ...{ url: server.url, ports, store, clock, gateway, backOffice, account, visitor },
    signedIn: async (holder = account) => {
      const somebody = visitor()
      const entered = await somebody.submit('/sign-in', { login: holder.login, password })
      if (entered.to !== '/') throw new Error(`not signed in: ${entered.text}`)
      return somebody
    },
    signedInAs: async (role, holder = account) => {
      const email = `${role}-${++people}@acme.example`
      const invited = await gateway.commands.inviteUser(holder, { email, role })
      if (typeof invited === 'string') throw new Error(invited)
      await gateway.commands.acceptInvitation(invited.token, password)
      const somebody = visitor()
      const entered = await somebody.submit('/sign-in', { login: email, password })
      if (entered.to !== '/') throw new Error(`not signed in: ${entered.text}`)
      return somebody
    },
    operator: async (role = 'admin') => {
      const name = `operator-${++people}`
      await backOffice.commands.addOperator({ name, role }, password)
      const somebody = visitor()
      const entered = await somebody.submit('/operator/sign-in', { login: name, password })
      if (entered.to !== '/operator') throw new Error(`not signed in: ${entered.text}`)
      return somebody
    },
    close: () => server.close(),
  }
}

/** Opens an account with the password that all tests use. */
export const aHolder = async (ports: Ports, options: AccountOptions = {}): Promise<Account> =>
  anAccount(ports, { password: await ports.secrets.hashPassword(password), ...options })

function visit(url: string): Visitor {
  const shownOf = (answer: Response): Shown => {
    const html = parse(answer.text)
    const set = (answer.headers as Readonly<Record<string, unknown>>)['set-cookie'] as readonly string[] | undefined
    if (set !== undefined) visitor.cookie = set[0]?.split(';')[0]
    const main = html.querySelector('main') ?? html
    return {
      status: answer.status,
      headers: answer.headers,
      to: (answer.headers as Readonly<Record<string, string>>).location,
      html,
      text: main.textContent.replace(/\s+/g, ' ').trim(),
    }
  }
  const cookies = () => (visitor.cookie === undefined ? {} : { Cookie: visitor.cookie })
  const visitor: Visitor = {
    cookie: undefined,
    get: async (path) => shownOf(await request(url).get(path).set(cookies())),
    post: async (path, fields, headers = sameOrigin) =>
      shownOf(
        await request(url)
          .post(path)
          .set(cookies())
          .set(headers)
          .type('form')
          .send({ ...fields }),
      ),
    submit: async (page, fill = {}, form = 'main form[method="post"]') => {
      const { html } = typeof page === 'string' ? await visitor.get(page) : page
      const found = html.querySelector(form)
      if (found === null) throw new Error(`no form ${form} in ${html.textContent}`)
      const body = new URLSearchParams()
      for (const [name, value] of [...fieldsOf(found), ...Object.entries(fill)]) {
        body.delete(name)
        for (const one of [value].flat()) body.append(name, one)
      }
      const action = found.getAttribute('action') ?? '/'
      return shownOf(await request(url).post(action).set(cookies()).set(sameOrigin).type('form').send(body.toString()))
    },
    upload: async (page, fill, file) => {
      const { html } = await visitor.get(page)
      const form = html.querySelector('main form[enctype="multipart/form-data"]')
      if (form === null) throw new Error(`no form with a file in ${page}`)
      const sent = request(url)
        .post(form.getAttribute('action') ?? '/')
        .set(cookies())
        .set(sameOrigin)
      for (const [name, value] of Object.entries({ ...Object.fromEntries(fieldsOf(form)), ...fill }))
        if (name !== 'file') void sent.field(name, [value].flat()[0] ?? '')
      return shownOf(await sent.attach('file', Buffer.from(file), 'list.csv'))
    },
  }
  return visitor
}

/** Returns the fields that a browser would submit if nothing were filled in. */
function fieldsOf(form: HTMLElement): readonly (readonly [string, string | readonly string[]])[] {
  const inputs = form.querySelectorAll('input').filter((input) => input.getAttribute('type') !== 'checkbox')
  const ticked = form.querySelectorAll('input[type="checkbox"][checked]')
  const boxes = new Map<string, string[]>()
  for (const box of ticked) {
    const name = box.getAttribute('name') ?? ''
    boxes.set(name, [...(boxes.get(name) ?? []), box.getAttribute('value') ?? ''])
  }
  return [
    ...inputs.map((input) => [input.getAttribute('name') ?? '', input.getAttribute('value') ?? ''] as const),
    ...form.querySelectorAll('textarea').map((area) => [area.getAttribute('name') ?? '', area.textContent] as const),
    ...form.querySelectorAll('select').map((select) => {
      const chosen = select.querySelector('option[selected]') ?? select.querySelector('option')
      return [select.getAttribute('name') ?? '', chosen?.getAttribute('value') ?? ''] as const
    }),
    ...boxes,
  ]
}
