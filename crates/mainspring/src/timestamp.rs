//! A time as people and other programs read it, and a span as people write it.

use mainspring_kernel::Millis;
use mainspring_kernel::retention::DAY;

pub(crate) fn timestamp(at: Millis) -> String {
    time(at).map_or_else(|| at.0.to_string(), |time| format!("{time:.3}"))
}

/// When something ends, for a person: the minute, with its day if that is not today, and how long
/// it is until then.
pub(crate) fn until(now: Millis, end: Millis) -> String {
    let Some(ends) = time(end) else {
        return end.0.to_string();
    };
    let day = |time: jiff::Timestamp| time.strftime("%Y-%m-%d").to_string();
    let is_today = time(now).is_some_and(|now| day(now) == day(ends));
    let minute = ends.strftime(if is_today {
        "%H:%M UTC"
    } else {
        "%Y-%m-%d %H:%M UTC"
    });
    format!("{minute}, in {}", end.since(now).in_words())
}

/// `90s`, `30m`, `2h`, `1h 30m`, `90d`.
pub(crate) fn span(text: &str) -> Result<Millis, String> {
    // A day of a calendar may have another length, so the parser has none.
    if let Some(days) = text.strip_suffix('d').and_then(|days| days.parse().ok()) {
        return Ok(Millis(DAY.0.saturating_mul(days)));
    }
    let parsed: jiff::SignedDuration = text
        .parse()
        .map_err(|_| format!("{text:?} is no time span: write 90s, 30m, 2h or 90d"))?;
    u64::try_from(parsed.as_millis())
        .map(Millis)
        .map_err(|_| format!("{text:?} is negative"))
}

fn time(at: Millis) -> Option<jiff::Timestamp> {
    let millis = i64::try_from(at.0).ok()?;
    jiff::Timestamp::from_millisecond(millis).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_has_its_minute_its_day_and_how_long_it_takes() {
        // 2026-11-18, 01:28:21.473
        let now = Millis(1_794_965_301_473);
        for (span, words) in [
            (300_000, "01:33 UTC, in 5m"),
            (86_400_000, "2026-11-19 01:28 UTC, in 24h"),
        ] {
            assert_eq!(until(now, now.plus(Millis(span))), words);
        }
    }

    #[test]
    fn spans_are_what_people_write() {
        for (text, expected) in [
            ("90s", Ok(Millis(90_000))),
            ("2h", Ok(Millis(7_200_000))),
            ("1h 30m", Ok(Millis(5_400_000))),
            ("90d", Ok(Millis(7_776_000_000))),
        ] {
            assert_eq!(span(text), expected);
        }
        for wrong in ["", "2", "-1s", "soon", "1 fortnight", "d", "-1d"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }
}
