import { Client } from 'pg'
import { freshDatabase } from '../testing/fresh-database.ts'
import { functions } from './functions.ts'

/**
 * Digests of the functions by version. Each change of the functions has a new version, so that lines are only added.
 */
const digests: Readonly<Record<number, string>> = {
  1: '36e5031e5e7491a57de2e68ed59bee7998d9138d3a7f6b041d5786beee45b59a',
  2: '225b01f6aa70fc21a75a668820c14a71f0217361b08d6823b0c41fedc883ec51',
  3: '58cd939f635fc6fa63c26b50db05623edef247a63e6c2714285b4a527e7f029e',
  4: '3068bb288a535be980075ee4c94f78a224e2bad96e530dfee88bace0a23794b5',
  5: 'dcb3e24097848e324e49c868e0cc5c905ae87fd1e332061b3f72d323130e3748',
  6: 'edf1b7b2b552eb71c5f065ffee805dbd8464c7f265e36fae0a9fdf89de0adf8d',
  7: '7b1cb0ebcdce44bab4f3c737c01e5ebb1502fa973f0a9da4c58e2fcabe8092e2',
  8: 'bfbad2a75f933ba4b3c1500d4d0450feba8062c6a3ef4cc2cf4d3d7aaf5d367d',
}

/**
 * Signatures of the functions by name. The previous and the next release call the same functions (P-16), so that lines
 * are only added: a function with other parameters or another result gets a new name. If a release stops calling a
 * function, the next release drops the function by a migration and removes its line.
 */
const signatures: Readonly<Record<string, readonly [parameters: string, result: string]>> = {
  add_partition: ['k bigint', 'void'],
  adopt_delivery_receipts: [
    'p_age_seconds float8, p_before_submitted_seconds float8, p_before_receipt_seconds float8, ' +
      'p_after_seconds float8, p_reference_days integer',
    'integer',
  ],
  choose_sender: ['p_accounts integer[], p_senders integer[], p_account integer, p_turned integer[]', 'integer'],
  count_outcomes: ['', 'trigger'],
  delete_waiting: [
    'p_account integer, p_ids bigint[], p_operation uuid',
    'TABLE(message_id bigint, recipient bigint, refund integer, due_time timestamptz, ' +
      'final_code smallint, reference text)',
  ],
  disown: ['p_dispatcher bigint, p_seq integer', 'void'],
  drop_block: ['p_block bigint, p_before timestamptz, OUT sends bigint, OUT messages bigint', 'record'],
  drop_history: [
    'p_after bigint, p_days integer, p_contact_days integer, p_seen_seconds integer, ' +
      'p_taken_days integer, p_receipt_days integer, p_unread_days integer, p_unknown_seconds integer, ' +
      'p_answer_seconds integer, OUT v_state text, OUT v_next bigint, OUT v_partitions integer, ' +
      'OUT v_sends bigint, OUT v_messages bigint',
    'record',
  ],
  drop_inbound_messages: [
    'p_before timestamptz, p_contact_days integer, p_seen_seconds integer, p_taken_days integer',
    'boolean',
  ],
  drop_partition: [
    'k bigint, p_before timestamptz, OUT dropped boolean, OUT sends bigint, OUT messages bigint',
    'record',
  ],
  gateway_day: ['at timestamptz', 'integer'],
  keep_contacts: ['p_lo bigint, p_hi bigint', 'void'],
  keys_in_use: ['p_locked bigint, p_accounts integer[], p_keys uuid[]', 'integer[]'],
  lease_block: ['OUT lo bigint, OUT hi bigint', 'record'],
  lease_shared: ['p_count integer, OUT lo bigint, OUT hi bigint', 'record'],
  list_scheduled: [
    'p_account integer, p_offset bigint, p_limit bigint',
    'TABLE(total bigint, unfolded bigint, id bigint, number bigint, submitted bigint, due bigint, ' +
      'price integer, client_reference text)',
  ],
  list_scheduled_messages: [
    'p_account integer, p_offset bigint, p_limit bigint',
    'TABLE(total bigint, unfolded bigint, id bigint, number bigint, submitted bigint, due bigint, ' +
      'price integer, client_reference text, options jsonb)',
  ],
  purge_webhooks: ['p_rows integer, p_days float8', 'integer'],
  receive_inbound_messages: [
    'p_carriers smallint[], p_from text[], p_numbers bigint[], p_to text[], p_texts text[], ' +
      'p_opt_keywords smallint[]',
    'TABLE(o_account integer, o_sender integer, o_address text, o_number bigint)',
  ],
  recover: ['OUT requeued bigint, OUT unknown bigint', 'record'],
  release_claimed_batches: [
    'p_dispatcher bigint, p_seq integer DEFAULT NULL::integer, OUT requeued bigint, OUT unknown bigint',
    'record',
  ],
  retire: ['p_dispatcher bigint', 'void'],
  transfer_credits: [
    'p_from integer, p_to integer, p_amount bigint, p_at timestamptz, p_operation uuid, p_asker integer, ' +
      'p_key uuid, p_digest uuid',
    'text',
  ],
  webhook_totals: [
    'p_rows integer',
    'TABLE(condition text, endpoints integer, events bigint, lists bigint, dead bigint, ' + 'oldest timestamptz)',
  ],
}

test('a change of the functions has a version of its own', () => {
  expect(digests[functions.version]).toBe(functions.digest)
  expect(functions.version).toBe(Math.max(...Object.keys(digests).map(Number)))
})

test('every function has kept its name, parameters and result', async () => {
  const database = await freshDatabase()
  const client = new Client({ connectionString: database.connectionString })
  try {
    await client.connect()
    const { rows } = await client.query<{ name: string; parameters: string; result: string }>(`
      select proname as name, pg_get_function_arguments(oid) as parameters, pg_get_function_result(oid) as result
      from pg_proc where pronamespace = current_schema()::regnamespace`)
    const short = (types: string) =>
      types.replaceAll('timestamp with time zone', 'timestamptz').replaceAll('double precision', 'float8')
    const found = rows.map(({ name, parameters, result }) => [name, [short(parameters), short(result)]])
    // Overloaded functions would be a single entry.
    expect(found).toHaveLength(Object.keys(signatures).length)
    expect(Object.fromEntries(found)).toEqual(signatures)
  } finally {
    await client.end()
    await database.drop()
  }
})
