import type { MessageStatus } from '@gateway/core/messages'
import type { Instant } from '@gateway/core/time'
import { createContext, type ComponentChildren } from 'preact'
import { useContext } from 'preact/hooks'
import type { Problems } from './forms.ts'
import { count, iso, when } from './format.ts'
import { stateWords, type Tone } from './words.ts'

/** Values that every link and form of a page needs. */
export interface Surroundings {
  /** Path at which the portal is mounted: '' or a path without a trailing slash. */
  readonly base: string
  /** Token that proves that a form came from a page rendered for this session. */
  readonly token: string
  readonly now: Instant
  /** True if the reader's role may submit the form at this path. */
  readonly mayPost: (path: string) => boolean
  /** False if the page at this path consists only of a form that the reader's role may not submit. */
  readonly maySee: (path: string) => boolean
}

export const Surrounded = createContext<Surroundings>({
  base: '',
  token: '',
  now: 0 as Instant,
  mayPost: () => true,
  maySee: () => true,
})

type Children = { readonly children?: ComponentChildren }

/**
 * Link to a page of the portal. If the reader may not see that page, nothing is rendered. With `isName`, the text is
 * rendered without a link instead.
 */
export function Link({
  to,
  children,
  isName = false,
  ...rest
}: Children & {
  readonly to: string
  readonly class?: string
  readonly current?: boolean
  readonly isName?: boolean
}) {
  const { base, maySee } = useContext(Surrounded)
  if (!maySee(to)) return isName ? <>{children}</> : null
  const { current, ...others } = rest
  return (
    <a href={base + to} {...others} {...(current === true && { 'aria-current': 'page' })}>
      {children}
    </a>
  )
}

/** Form that posts to a page of the portal. It is not rendered if the reader's role may not submit it. */
export function Form({
  to,
  children,
  takesFile = false,
  ...rest
}: Children & {
  readonly to: string
  readonly class?: string
  readonly takesFile?: boolean
}) {
  const { base, token, mayPost } = useContext(Surrounded)
  if (!mayPost(to))
    return rest.class === 'panel' ? <p class="panel soft">Your role may look at this, but may not change it.</p> : null
  return (
    <form method="post" action={base + to} {...(takesFile && { enctype: 'multipart/form-data' as const })} {...rest}>
      {token !== '' && <input type="hidden" name="token" value={token} />}
      {children}
    </form>
  )
}

export const Hidden = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <input type="hidden" name={name} value={value} />
)

export const Panel = ({ title, children, live }: Children & { readonly title?: string; readonly live?: string }) => (
  <section class="panel" {...(live !== undefined && { id: live, 'data-live': '' })}>
    {title !== undefined && <h2>{title}</h2>}
    {children}
  </section>
)

export const Figures = ({ of }: { readonly of: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <dl class="figures">
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

export const Pill = ({ tone, children }: Children & { readonly tone: Tone }) => (
  <span class={`state ${tone}`}>{children}</span>
)

export function State({ status, scheduled }: { readonly status: MessageStatus; readonly scheduled?: boolean }) {
  const { word, tone } = stateWords(status, scheduled)
  return <Pill tone={tone}>{word}</Pill>
}

/** Time element that shows a moment in gateway time (GMT+2). */
export function When({ at }: { readonly at: Instant }) {
  const { now } = useContext(Surrounded)
  return <time datetime={iso(at)}>{when(at, now)}</time>
}

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => ComponentChildren
  readonly number?: boolean
}

/**
 * Table with a caption and headings. If there are no rows, `empty` is shown instead. It states what would be listed and
 * how to get it.
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  empty,
}: {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly empty: ComponentChildren
}) {
  if (rows.length === 0) return <p class="soft">{empty}</p>
  return (
    <div class="wide" tabIndex={0} role="region" aria-label={caption}>
      {/* Explicit roles, because some browsers lose the table semantics of rows that a phone lays out as blocks. */}
      <table role="table">
        <caption>{caption}</caption>
        <thead>
          <tr role="row">
            {columns.map(({ head, number }) => (
              <th key={head} role="columnheader" scope="col" {...(number === true && { class: 'number' })}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i} role="row">
              {columns.map(({ head, cell, number }) => (
                <td key={head} role="cell" data-head={head} {...(number === true && { class: 'number' })}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Bar divided into the parts of a whole, with a label that states the same figures in words. */
export function Bar({
  of,
}: {
  readonly of: readonly { readonly tone: Tone; readonly word: string; readonly value: number }[]
}) {
  const there = of.filter(({ value }) => value > 0)
  const total = there.reduce((sum, { value }) => sum + value, 0)
  const label = there.map(({ word, value }) => `${count(value)} ${word}`).join(', ')
  let at = 0
  return (
    <svg class="bar" role="img" aria-label={label} viewBox="0 0 1000 10" preserveAspectRatio="none">
      {there.map(({ tone, word, value }) => {
        const x = at
        const width = (1000 * value) / total
        at += width
        return <rect key={word} class={tone} x={x.toFixed(1)} y="0" width={width.toFixed(1)} height="10" />
      })}
    </svg>
  )
}

const idOf = (name: string) => `field-${name}`

interface FieldProps extends Children {
  readonly name: string
  readonly label: string
  readonly hint?: ComponentChildren
  readonly problems?: Problems
}

/** One control with its label, hint and error message. */
function Field({ name, label, hint, problems = {}, children }: FieldProps) {
  const problem = problems[name]
  return (
    <div class={problem === undefined ? 'field' : 'field wrong'}>
      <label for={idOf(name)}>{label}</label>
      {hint !== undefined && (
        <p class="hint" id={`${idOf(name)}-hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p class="problem" id={`${idOf(name)}-problem`}>
          {problem}
        </p>
      )}
      {children}
    </div>
  )
}

const described = ({ name, hint, problems = {} }: FieldProps) => {
  const ids = [
    hint === undefined ? undefined : `${idOf(name)}-hint`,
    problems[name] === undefined ? undefined : `${idOf(name)}-problem`,
  ].filter((id) => id !== undefined)
  return {
    id: idOf(name),
    name,
    ...(ids.length > 0 && { 'aria-describedby': ids.join(' ') }),
    ...(problems[name] !== undefined && { 'aria-invalid': 'true' as const }),
  }
}

export function TextField({
  value = '',
  type = 'text',
  autocomplete = 'off',
  ...field
}: FieldProps & {
  readonly value?: string
  readonly type?: 'text' | 'password' | 'search' | 'url' | 'date' | 'datetime-local'
  readonly autocomplete?: string
}) {
  // A submitted password is never sent back to the browser.
  const shown = type === 'password' ? {} : { value }
  // Passed as one object, because the types of preact would otherwise require the ARIA roles of each input type.
  const attributes = { type, ...described(field), ...shown, autocomplete, spellcheck: false }
  return (
    <Field {...field}>
      <input {...(attributes as object)} />
    </Field>
  )
}

/** Island that the field uses: a file of `islands/` that responds while the reader types. */
type Island = 'counter'

export function TextArea({
  value = '',
  rows = 4,
  island,
  ...field
}: FieldProps & { readonly value?: string; readonly rows?: number; readonly island?: Island }) {
  return (
    <Field {...field}>
      <textarea {...described(field)} rows={rows} {...(island !== undefined && { 'data-island': island })}>
        {/* Browsers drop a line break at the beginning of a text area. */}
        {value.startsWith('\n') ? `\n${value}` : value}
      </textarea>
    </Field>
  )
}

export const FileField = ({ accept, ...field }: FieldProps & { readonly accept: string }) => (
  <Field {...field}>
    <input type="file" accept={accept} {...described(field)} />
  </Field>
)

export function Choice({
  value = '',
  options,
  ...field
}: FieldProps & { readonly value?: string; readonly options: readonly (readonly [value: string, label: string])[] }) {
  return (
    <Field {...field}>
      <select {...described(field)}>
        {options.map(([optionValue, label]) => (
          <option key={optionValue} value={optionValue} selected={optionValue === value}>
            {label}
          </option>
        ))}
      </select>
    </Field>
  )
}

/** Summary of all errors of a form, with links to its fields. */
export function ProblemSummary({ problems }: { readonly problems: Problems }) {
  const all = Object.entries(problems)
  if (all.length === 0) return null
  return (
    <div class="notice bad" role="alert" tabIndex={-1} id="problems">
      <h2>There is a problem</h2>
      <ul>
        {all.map(([name, problem]) => (
          <li key={name}>
            <a href={`#${idOf(name)}`}>{problem}</a>
          </li>
        ))}
      </ul>
    </div>
  )
}

export const Notice = ({ tone = 'good', children }: Children & { readonly tone?: Tone }) => (
  <div class={`notice ${tone}`} role="status">
    {children}
  </div>
)

export const Main = ({ children }: Children) => (
  <button type="submit" class="button">
    {children}
  </button>
)

export const Second = ({ name, value, children }: Children & { readonly name?: string; readonly value?: string }) => (
  <button type="submit" class="button second" {...(name !== undefined && { name, value })}>
    {children}
  </button>
)
