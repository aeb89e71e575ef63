const postgres = 'packages/adapters-postgres/dist'
const functions = `${postgres}/functions`
const core = 'packages/core/dist'
const smpp = 'packages/adapters-smpp/dist'
const kit = 'packages/carrier-kit/dist'

/**
 * Bugs that the drill must find, each in this form.
 *
 * @type {Readonly<Record<string, { form: string, changes: readonly Change[] }>>}
 */
export const drillPlants = {
  'look without the second write': {
    form: 'standby first',
    changes: [
      { file: `${postgres}/settle-lost-statement.js`, from: `await before(deadline, connections.confirm());`, to: `` },
    ],
  },
  'a promotion is not noticed': {
    form: 'asynchronous',
    changes: [
      { file: `${postgres}/promotions/primary-watch.js`, from: `else if (!isSame(seen))`, to: `else if (false)` },
    ],
  },
  'no check for a primary': {
    form: 'kill',
    changes: [
      { file: `${postgres}/primary.js`, from: `if (reading.isPrimary)`, to: `` },
      { file: `${postgres}/primary.js`, from: `if (place !== undefined && !isPrimary)`, to: `if (false)` },
    ],
  },
  'old epoch accepted': {
    form: 'freeze',
    changes: [
      {
        file: `${postgres}/primary.js`,
        from: `if (latest !== undefined && latest.timeline > history.timeline)`,
        to: `if (false)`,
      },
      { file: `${postgres}/primary.js`, from: `if (timeline < history.timeline)`, to: `if (false)` },
    ],
  },
}

/**
 * Bugs that the fault test must find. Each is a change of the built files of a copy, so that the product has no
 * switches. The replaced text must occur exactly once, so that a change of the product that breaks a plant is noticed.
 *
 * @typedef {{ file: string, from: string, to: string }} Change
 * @type {Readonly<Record<string, readonly Change[]>>}
 */
export const plants = {
  'no fence': [
    {
      file: `${postgres}/claimed-batches/postgres-claimed-batches.js`,
      from: `return rows.length > 0 ? 'marked' : 'fenced'`,
      to: `return 'marked'`,
    },
    {
      file: `${core}/dispatch/in-flight.js`,
      from: `batch.dispatcher === dispatcher && !batch.fenced`,
      to: `false`,
    },
  ],
  'mark after send': [
    {
      file: `${core}/dispatch/in-flight.js`,
      from: `Math.min(batch.marked, batch.next + Math.max(0, max))`,
      to: `Math.min(batch.end, batch.next + Math.max(0, max))`,
    },
    {
      // This change disables an assertion of the dispatcher, which would otherwise detect the bug itself and stop.
      file: `${core}/dispatch/open-batch.js`,
      from: `!isInOrder || !isCounted || !isFenceKept`,
      to: `false`,
    },
    {
      file: `${core}/dispatch/submissions.js`,
      from: `if (batch.next === batch.marked)\n            return;`,
      to: ``,
    },
  ],
  'lost answer retried blindly': [
    {
      file: `${postgres}/messages/postgres-messages.js`,
      from: `const { stored, balances } = outcome;`,
      to: `const stored = new Set(), balances = new Map();`,
    },
  ],
  'keys are forgotten': [
    {
      file: `${postgres}/messages/waiting-orders.js`,
      from: `const repeatable = request && draft && repeatableOf(request, draft);`,
      to: `const repeatable = undefined;`,
    },
  ],
  'lost transfer retried blindly': [
    {
      file: `${postgres}/credits/postgres-ledger.js`,
      from: `((await settleLostStatement(ordinary, error, settings.lookUpSeconds, look)).length > 0)`,
      to: `false`,
    },
  ],
  'refund twice': [
    {
      file: `${postgres}/sql/record.js`,
      from: `  select changed.*, send.price amount
  from changed
  cross join lateral (select price from send where first_id = changed.send_first_id offset 0) send
  where changed.code in (\${OUTCOME.refused}, \${OUTCOME.optedOut}) and not changed.refunded`,
      to: `  select (:accounts)[position] account_id, (:sends)[position] send_first_id, code, send.price amount
  from (select count(*) from changed) done
  cross join unnest(:positions, :codes) outcome(position, code)
  cross join lateral (select price from send where first_id = (:sends)[position] offset 0) send
  where code = 111`,
    },
  ],
  'delete of a claimed message': [
    {
      file: `${functions}/delete-waiting.js`,
      from: `  return query select *, null::timestamptz, null::smallint, null::text from unnest(v_ids, v_numbers, v_prices);`,
      to: `  with e as (
    select s.first_id, s.price, s.sender, i id, s.msisdns[i - s.first_id + 1] msisdn
    from unnest(p_ids) i join send s on i >= s.first_id and i < s.first_id + s.n
    where s.account_id = p_account and s.scheduled_at is not null and exists (select from claimed_batch f where i = any (f.ids))
  ), m as (
    insert into message (id, send_first_id, msisdn, account_id, sender, code, code_at)
    select id, first_id, msisdn, p_account, sender, 102, now() from e on conflict do nothing returning id
  ), lg as (
    insert into ledger (account_id, kind, amount, send_first_id, code, operation)
    select p_account, 3, sum(price), first_id, 102, p_operation from e join m using (id) group by first_id returning amount
  ), ac as (
    update account set balance = balance + (select sum(amount) from lg) where id = p_account and exists (select from lg)
  )
  select array_agg(e.id) ids, array_agg(msisdn) numbers, array_agg(price) prices from e join m using (id) into r;
  v_ids := v_ids || r.ids; v_numbers := v_numbers || r.numbers; v_prices := v_prices || r.prices;
  return query select *, null::timestamptz, null::smallint, null::text from unnest(v_ids, v_numbers, v_prices);`,
    },
  ],
  'receipt over a final state': [
    {
      file: `${postgres}/sql/receipts.js`,
      from: `and message.code in (\${changeable}) and message.code <> receipt.code and message.parts_undelivered = 0`,
      to: `and message.code <> receipt.code and message.parts_undelivered = 0`,
    },
  ],
  'recover without epoch': [
    {
      file: `${functions}/dispatchers.js`,
      from: `    delete from claimed_batch where dispatcher = p_dispatcher and (p_seq is null or seq = p_seq) returning *`,
      to: `    update claimed_batch set marked = marked where dispatcher = p_dispatcher and (p_seq is null or seq = p_seq) returning *`,
    },
    {
      file: `${functions}/dispatchers.js`,
      from: `    requeued := requeued + r.requeued; unknown := unknown + r.unknown;
    delete from dispatcher where id = v_id;`,
      to: `    requeued := requeued + r.requeued; unknown := unknown + r.unknown;
    update dispatcher set lease_until = now() + interval '1 day' where id = v_id;`,
    },
  ],
  'balance read then written': [
    {
      file: `${postgres}/sql/credits.js`,
      from: `  update account set balance = balance - cost.amount
  from (
    select account_id, sum(amount)::bigint amount
    from \${costs}
    group by account_id
    order by account_id
  ) cost
  where account.id = any (array[cost.account_id]) and not locked and balance >= cost.amount`,
      to: `  update account set balance = cost.had - cost.amount
  from (
    select account_id, sum(amount)::bigint amount, (select a.balance from account a where a.id = account_id) had
    from \${costs}
    group by account_id
    order by account_id
  ) cost
  where account.id = any (array[cost.account_id]) and not locked and cost.had >= cost.amount`,
    },
  ],
  'hot commits not flushed': [
    {
      file: `${postgres}/pools.js`,
      from: `    plan_cache_mode: 'force_generic_plan',`,
      to: `    plan_cache_mode: 'force_generic_plan', synchronous_commit: 'off',`,
    },
  ],
  // Without the lock, the delete alone would still return each item once. The second change therefore returns the items
  // that were read instead of those that were deleted.
  'return once without lock': [
    {
      file: `${postgres}/sql/inbox.js`,
      from: `  limit :messagesMax
  for update skip locked`,
      to: `  limit :messagesMax`,
    },
    {
      file: `${postgres}/sql/inbox.js`,
      from: `from taken
cross join lateral (select * from inbound_message where`,
      to: `from (select inbound_message_id from inbound_message_offered where ctid = any (array(select place from picked))) taken
cross join lateral (select * from inbound_message where`,
    },
  ],
  'a part that comes twice begins another text': [
    {
      file: `${core}/inbox/inbound-message.js`,
      from: `if (same?.text === text)`,
      to: `if (false)`,
    },
  ],
  'claims end with their first failure': [
    {
      file: `apps/dispatcher/dist/dispatched-carrier.js`,
      from: `await this.dispatcher.work(lane);`,
      to: `await this.dispatcher.work(lane).catch(() => 'closed');`,
    },
  ],
  'late outcomes forget their events': [
    {
      file: `${postgres}/sql/record.js`,
      from: `\${storeMessageEvents('changed', 'handover')}, `,
      to: ``,
    },
  ],
  'lists are delivered before they are pushed': [
    {
      file: `${postgres}/sql/claim-lists.js`,
      from: `(webhook_id, leased, tries, due_at, from_at, to_at, events)
  select webhook_id, true,`,
      to: `(webhook_id, state, leased, tries, due_at, from_at, to_at, events)
  select webhook_id, 1, true,`,
    },
  ],
  'a rotation ends the secret before the last': [
    {
      file: `${core}/webhooks/signing-secrets.js`,
      from: `previous: [last, ...valid].slice(0, secretsMax - 1)`,
      to: `previous: [last]`,
    },
  ],
  'a list that was answered 410 is dead': [
    {
      file: `${postgres}/sql/push-events.js`,
      from: `else \${LIST_STATE.open}`,
      to: `when verdict = \${VERDICT.gone} then \${LIST_STATE.dead} else \${LIST_STATE.open}`,
    },
  ],
  'a download holds a connection while its reader waits': [
    {
      file: `${postgres}/credits/postgres-ledger.js`,
      from: `yield movementsIn(page.rows, account, before);`,
      to: `let read;
        const isRead = new Promise((resolve) => { read = resolve; });
        const held = ordinary.transaction(() => isRead);
        held.catch(() => undefined);
        try { yield movementsIn(page.rows, account, before); } finally { read(); }`,
    },
  ],
  // The following bugs are found only with --carrier smpp.
  'a submission repeated after a lost answer': [
    {
      file: `${smpp}/session/pending-requests.js`,
      from: `settleOne(request, request.sentAt === undefined ? 'unsent' : 'unknown');`,
      to: `settleOne(request, 'unsent');`,
    },
  ],
  'a receipt acknowledged before commit': [
    {
      file: `${kit}/stored-in-time.js`,
      from: `const isStored = await Promise.race([stored, late]);`,
      to: `const isStored = true;`,
    },
  ],
  'an odd octet makes a PDU malformed': [
    {
      file: 'packages/smpp/dist/cursor.js',
      from: `from.hasTail = bytes.subarray(at, end).some((octet) => octet !== 0);`,
      to: `if (at < end) fail(from, 'tlv-too-long');`,
    },
  ],
  // The following bugs are found only with --carrier http.
  'a callback is answered before the commit': [
    {
      file: `apps/callbacks/dist/router.js`,
      from: `const result = await withinTime(storing, answerMilliseconds);`,
      to: `const result = 'stored';`,
    },
  ],
  'a 2xx without an id is accepted': [
    {
      file: `packages/adapters-http/dist/answers/read-answer.js`,
      from: `if (reference === undefined)`,
      to: `if (false)`,
    },
  ],
  // The following bugs are found only with --smpp-customers.
  'a submission is answered before the commit': [
    {
      file: `${postgres}/messages/postgres-messages.js`,
      from: `const paid = await storeSends(hot, sendsOf(laidOut), answersToKeep(orders, laidOut), hold);`,
      to: `const storing = storeSends(hot, sendsOf(laidOut), answersToKeep(orders, laidOut), hold);
            storing.catch(() => undefined);
            const paid = hold === undefined ? await storing : new Map(orders.map(({ account }) => [account, 0]));`,
    },
  ],
  'a receipt that one bind acknowledged is dropped for the others': [
    {
      file: `${postgres}/sql/smpp-deliveries.js`,
      from: `where smpp_delivery.id = any (array[results.id]) and results.is_over and smpp_delivery.tries = results.tries
    and process = :process`,
      to: `where results.is_over and process = :process`,
    },
  ],
  'parts are priced twice': [
    {
      file: `${postgres}/smpp-customers/postgres-smpp-parts.js`,
      from: `sends: layOut(order, idOf(parts))`,
      to: `sends: doublePrice(layOut(order, idOf(parts)))`,
    },
    {
      file: `${postgres}/smpp-customers/postgres-smpp-parts.js`,
      from: `async function joinTexts(`,
      to: `const doublePrice = (laid) => ({ ...laid, sends: laid.sends.map((send) => ({ ...send, cost: 2 * send.cost })) });
async function joinTexts(`,
    },
  ],
  // The following bugs also need --carrier smpp, because they need two carriers.
  'a circuit is never tried again': [
    {
      file: `${kit}/circuit-breaker.js`,
      from: `if (this.pauseLeft(now) === 0)`,
      to: `if (false)`,
    },
  ],
  'a paused carrier goes on': [
    {
      file: `${core}/fleet/carrier-modes.js`,
      from: `const isHeld = () => inner.mode() !== 'running';`,
      to: `const isHeld = () => false;`,
    },
  ],
  'a heartbeat loses the modes of carriers': [
    {
      file: 'apps/dispatcher/dist/follow-modes.js',
      from: `dispatching.setModes(modesOf(next));`,
      to: ``,
    },
  ],
  'a report overwrites a newer mode': [
    {
      file: `${postgres}/sql/fleet.js`,
      from: `with used as (`,
      to: `with overwritten as (
  delete from carrier_mode
  where carrier in (
    select carrier from unnest(:carriers, :reports) r(carrier, report) where report::json ->> 'mode' = 'running'
  )
), used as (`,
    },
  ],
  'one number that is refused for now opens the circuit': [
    {
      file: `${kit}/circuit-breaker.js`,
      from: `this.#refusedInRow >= refusedInRowLeast && this.#isShare(this.#failures)`,
      to: `true`,
    },
    {
      file: `${kit}/circuit-breaker.js`,
      from: `Math.min(refusedPauseMilliseconds, pause * refusedPauseShare)`,
      to: `20 * pause`,
    },
  ],
  'a full carrier keeps the queue': [
    {
      file: `${core}/dispatch/claimable-queues.js`,
      from: `if (fullness === undefined || !others.includes(own))`,
      to: `if (true)`,
    },
  ],
  'silence is not noticed': [
    {
      file: `${kit}/circuit-breaker.js`,
      from: `this.#silentSince === undefined ? 0 : now - this.#silentSince`,
      to: `0`,
    },
  ],
  'a probe is a whole window': [
    {
      file: `${kit}/circuit-breaker.js`,
      from: `return this.#proven >= provenEnough ? Infinity : Math.max(0, 1 + this.#proven - this.#unanswered);`,
      to: `return Infinity;`,
    },
  ],
  'delete told by a guess': [
    {
      file: `${postgres}/messages/scheduled.js`,
      from: `learn(deleted.map((row) => ({ ...row, due: null, code: null, reference: null })));`,
      to: `learn([]);`,
    },
  ],
}
