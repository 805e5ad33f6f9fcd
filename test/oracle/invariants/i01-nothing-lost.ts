/** I1: every webhook that was answered by 2xx has one row, and each row reaches a state that can be told. */
export const i1 = {
  'every webhook that was answered by 2xx is in the inbox once': `
    select answered.id, count(inbox.id) from hold.answered
    left join inbox on source = 'webhook' and source_key = answered.id
    group by answered.id having count(inbox.id) <> 1`,

  'nothing that came in still waits to be applied': `
    select inbox_id, stored_at from inbox_pending`,

  'what repeats or contradicts a webhook stands beside one that is there': `
    select inbox_id from webhook_repeat where not exists (
      select from inbox where id = inbox_id and source = 'webhook')
    union all
    select inbox_id from webhook_conflict
    where not exists (select from inbox where id = inbox_id and source = 'webhook')
      or not exists (select from inbox where id = first_id and source = 'webhook')`,

  'every event has its number': `select id, type, at from event_pending`,

  'each change of a deposit or a mismatch was reported as often as it happened': `
    with happened as (
      select subject, type, count(*) from hold.changed group by subject, type
    ), reported as (
      select coalesce('mismatch/' || (data ->> 'mismatch'), 'deposit/' || deposit_id) as subject, type, count(*) from event
      where type ~ '^deposit[.]' or type in ('mismatch.opened', 'mismatch.cleared') group by 1, 2
    )
    select subject, type, happened.count as happened, reported.count as reported
    from happened full join reported using (subject, type)
    where happened.count is distinct from reported.count and exists (select from hold.changed)`,

  'every deposit that is safe to credit, or no longer, was reported': `
    select deposit_id, action, count(*) from credit_safety group by deposit_id, action
    having count(*) > (select count(*) from event where event.deposit_id = credit_safety.deposit_id
      and type = case action when 'safe' then 'deposit.credit_safe' else 'deposit.reversed' end)`,
} as const satisfies Record<string, string>
