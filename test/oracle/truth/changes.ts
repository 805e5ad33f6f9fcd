/**
 * Notes each change of a deposit or a mismatch in the transaction that makes it, by what docs/events.md says of the types.
 * To be run after `tablesOfTruth`, on books that have neither yet.
 */
export const watchChanges = `
  -- A payment that is passed over by policy is no deposit.
  create function hold.note_deposit() returns trigger language plpgsql security definer as $$
  declare known boolean := coalesce(old.state <> 'ignored', false);
  begin
    insert into hold.changed select 'deposit/' || new.id, type from (values
      ('deposit.observed', not known),
      ('deposit.final', new.final_at is not null and not (known and old.final_at is not null)),
      ('deposit.settled', new.settled_at is not null and not (known and old.settled_at is not null)),
      ('deposit.reconciled', new.state = 'reconciled' and not (known and old.state = 'reconciled')),
      ('deposit.reversed', new.state = 'orphaned' and not (known and old.state = 'orphaned'))
    ) as became (type, applies) where applies and new.state <> 'ignored';
    return null;
  end $$;
  create trigger hold_changed after insert or update on public.deposit for each row execute function hold.note_deposit();

  -- That a payment left its chain is noted above.
  create function hold.note_credit_safety() returns trigger language plpgsql security definer as $$
  begin
    insert into hold.changed
      select 'deposit/' || id, case new.action when 'safe' then 'deposit.credit_safe' else 'deposit.reversed' end
      from public.deposit where id = new.deposit_id and (new.action = 'safe' or state <> 'orphaned');
    return null;
  end $$;
  create trigger hold_changed after insert on public.credit_safety
    for each row execute function hold.note_credit_safety();

  create function hold.note_mismatch() returns trigger language plpgsql security definer as $$
  begin
    if tg_op = 'INSERT' then
      insert into hold.changed values ('mismatch/' || new.id, 'mismatch.opened');
    elsif old.cleared_at is null and new.cleared_at is not null then
      insert into hold.changed values ('mismatch/' || new.id, 'mismatch.cleared');
    end if;
    return null;
  end $$;
  create trigger hold_changed after insert or update on public.mismatch
    for each row execute function hold.note_mismatch();
`
