pub fn chart() {}
