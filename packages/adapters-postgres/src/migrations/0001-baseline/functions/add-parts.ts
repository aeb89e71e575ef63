// The row of a group is locked by whoever adds a part to it, so that of two who bring the last two parts one completes the text.
export const addParts = `
-- Adds parts, in their order. Returns the texts that this completed, or, since a number was there already, found to be over: of
-- part p_place the one, or both, the older first.
create function add_parts(p_keys uuid[], p_commons text[], p_numbers smallint[], p_counts smallint[], p_texts text[])
returns table (part int, complete bool, common text, places smallint[], pieces text[]) language plpgsql as $$
declare g inbound_message_parts;
begin
  for i in 1 .. coalesce(cardinality(p_keys), 0) loop
    loop
      insert into inbound_message_parts as p (key, common, numbers, texts)
      values (p_keys[i], p_commons[i], array[p_numbers[i]], array[p_texts[i]])
      on conflict (key) do update set numbers = p.numbers || excluded.numbers, texts = p.texts || excluded.texts, last = now()
      where not p.numbers @> excluded.numbers returning * into g;
      exit when found;
      delete from inbound_message_parts p where p.key = p_keys[i] returning * into g;
      if found then return query select i, false, g.common, g.numbers, g.texts; end if;
    end loop;
    if cardinality(g.numbers) = p_counts[i] then
      delete from inbound_message_parts p where p.key = p_keys[i];
      return query select i, true, g.common, g.numbers, g.texts;
    end if;
  end loop;
end $$;
`
