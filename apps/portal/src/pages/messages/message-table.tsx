import { creditsOf, type ShownMessage } from '@gateway/core/messages'
import { secondsAfter, type Instant } from '@gateway/core/time'
import type { ComponentChildren } from 'preact'
import { Link, State, Table, When } from '../../components.tsx'
import { amount } from '../../format.ts'
import { followedSeconds } from '../../live.ts'

const charactersMax = 60

export const excerpt = (text: string): string =>
  text.length > charactersMax ? `${Array.from(text).slice(0, charactersMax).join('')}…` : text

export const isScheduled = ({ scheduled }: Pick<ShownMessage, 'scheduled'>, now: Instant): boolean =>
  scheduled !== undefined && scheduled > now

/** True if the message can still be cancelled or changed. */
export const waitsForItsTime = (message: ShownMessage, now: Instant): boolean =>
  isScheduled(message, now) && message.status !== 'not-found' && message.status.code === 'waiting'

/** Returns true if a message is due now, or becomes due while a page that is opened now still receives updates. */
export const isSoon = (scheduled: Instant | undefined, now: Instant): boolean =>
  scheduled === undefined || scheduled <= secondsAfter(now, followedSeconds)

/** Returns true if one of the messages may change its state while a page that is opened now still receives updates. */
export const mayChange = (messages: readonly Pick<ShownMessage, 'status' | 'scheduled'>[], now: Instant): boolean =>
  messages.some(({ status, scheduled }) => {
    if (status === 'not-found') return false
    return status.code === 'waiting' ? isSoon(scheduled, now) : status.code === 100
  })

/** Table of the account's messages, each with its state. */
export const MessageTable = ({
  caption,
  messages,
  now,
  empty,
}: {
  readonly caption: string
  readonly messages: readonly ShownMessage[]
  readonly now: Instant
  readonly empty: ComponentChildren
}) => (
  <Table
    caption={caption}
    rows={messages}
    empty={empty}
    columns={[
      { head: 'To', cell: ({ id, number }) => <Link to={`/messages/${id}`}>{number}</Link> },
      { head: 'Text', cell: ({ text }) => <span class="text">{excerpt(text)}</span> },
      { head: 'When', cell: ({ accepted, scheduled }) => <When at={scheduled ?? accepted} /> },
      { head: 'Net credits', number: true, cell: ({ status }) => amount(creditsOf(status).net) },
      {
        head: 'State',
        cell: (message) => <State status={message.status} scheduled={isScheduled(message, now)} />,
      },
    ]}
  />
)
